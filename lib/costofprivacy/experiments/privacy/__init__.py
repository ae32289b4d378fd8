"""Experiments on private regression as a user meets it: rivals, budgets, limits."""
