"""What does each paper claim, and what did the book find of it?"""
