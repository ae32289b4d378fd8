"""Chapters to play with: tables behind sliders and pickers."""
