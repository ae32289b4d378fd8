"""Hostile parameters through the command line's own code: the campaign of `make fuzz`, and its short version."""
