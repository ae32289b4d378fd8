"""Why can the steps of Algorithm 1 be trusted, what does its release spend, and is its noise placed well?"""
