"""Which method should I use, at equal privacy and equal data?"""
