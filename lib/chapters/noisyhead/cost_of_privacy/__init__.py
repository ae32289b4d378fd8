"""What does privacy cost in prediction, and do the bound on it and the steps of its proof hold along every size?"""
