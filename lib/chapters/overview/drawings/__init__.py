"""Drawings that show ideas: what the head computes, what clipping does, and where a schedule puts its noise."""
