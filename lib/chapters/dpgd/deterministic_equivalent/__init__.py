"""Does the risk of private gradient descent follow the paper's equations, how fast, and where do these come from?"""
