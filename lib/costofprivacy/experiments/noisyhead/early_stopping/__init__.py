"""Does Figure 3 come out again, how many steps are best as the prompts grow, and is Proposition 4.1 a bound?"""
