"""Can Figure 1 be reproduced, and how fast does the cost of privacy fall in low dimension?"""
