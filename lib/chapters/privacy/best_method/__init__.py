"""Which method of private linear regression has the least error, and does the choice from public numbers find it?"""
