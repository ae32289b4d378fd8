"""How much of its mean and of its square does clipping leave a gradient, and does that depend on the risk alone?"""
