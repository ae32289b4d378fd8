"""What the words of comparison mean in this book: one definition each, the same for every judge and every sentence."""

CONSISTENT = 4.0  # standard errors within which two numbers agree
