"""Showing what was found: figures, plates, words that follow numbers, explorers."""
