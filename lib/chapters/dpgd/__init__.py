"""One package for each chapter on DP-GD, arXiv:2505.16329v2."""
