"""Does Figure 1 come out again, what can its heads do, and how fast does privacy get cheaper in low dimension?"""
