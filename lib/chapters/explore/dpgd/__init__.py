"""What is left of DP-GD's start, what do sampling and private noise add, and what does the release cost?"""
