"""Can NoisyHead learn the length of a news article in private, and is it best stopped early?"""
