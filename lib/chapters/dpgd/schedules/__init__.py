"""Which learning rate schedule should one use, and how much does it matter?"""
