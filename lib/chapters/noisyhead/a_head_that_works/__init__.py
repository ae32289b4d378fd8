"""How small can the price of a private linear head be, and when is pretraining one worth anything?"""
