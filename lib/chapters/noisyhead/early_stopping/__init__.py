"""Can Figure 3 be reproduced, how many steps are best as the prompts grow, and is Proposition 4.1 a bound?"""
