"""A private head that works: how much of the gap is the price of privacy, and how much of the method?"""
