"""At equal privacy and equal data, which private linear regression has the least error, and when?"""
