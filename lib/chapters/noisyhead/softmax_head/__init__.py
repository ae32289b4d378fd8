"""One softmax attention head, trained privately on the same task: what changes, and what carries over?"""
