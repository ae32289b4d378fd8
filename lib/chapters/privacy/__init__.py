"""One package for each chapter on privacy itself: its price, its rivals, what it leaves open, and what to use."""
