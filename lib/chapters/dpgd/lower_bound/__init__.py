"""Could any private algorithm do much better than DP-GD, and how sure is that?"""
