"""Does NoisyHead match DP-SGD, and which privacy accounting did each side get?"""
