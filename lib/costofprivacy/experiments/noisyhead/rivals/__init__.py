"""What else does the same budget buy: is private ridge regression private, and does Table 1 come out again?"""
