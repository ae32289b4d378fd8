"""One package for each chapter on privacy itself: its price, what it leaves open, and what to use."""
