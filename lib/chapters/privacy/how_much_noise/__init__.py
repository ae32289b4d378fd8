"""How much noise does a privacy budget need, and what does it cost?"""
