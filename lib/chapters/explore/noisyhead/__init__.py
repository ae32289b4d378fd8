"""When does NoisyHead predict better than answering 0, and what do more prompts, budget or accounting buy?"""
