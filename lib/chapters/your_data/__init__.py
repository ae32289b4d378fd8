"""What a data frame costs before a private fit: bounds that are too wide, and missing cells."""
