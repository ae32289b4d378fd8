"""What falls in Figure 2, how much does privacy cost in high dimension, and do the lemmas behind the bounds hold?"""
