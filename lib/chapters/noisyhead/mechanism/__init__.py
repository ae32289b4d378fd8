"""What does one noisy update reveal of a prompt, what do many spend together, and where do they lead without noise?"""
