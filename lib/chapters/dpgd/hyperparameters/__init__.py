"""How should the clipping constant and the learning rate be set, and what does the paper's advice cost or gain?"""
