"""What does a correct ε not protect against, and what should one use for a real release?"""
