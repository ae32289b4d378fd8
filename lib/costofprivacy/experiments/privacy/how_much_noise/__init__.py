"""How much noise do an ε and a δ ask for, and what does it cost?"""
