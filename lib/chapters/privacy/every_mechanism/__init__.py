"""Which guarantee does each release give, and does a measurement of its privacy agree?"""
