"""What else does the same budget buy? Is private ridge regression private, and can Table 1 be reproduced?"""
