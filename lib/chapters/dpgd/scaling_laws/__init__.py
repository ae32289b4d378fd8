"""How much does more data buy when some directions of the features are weak, and when is privacy free?"""
