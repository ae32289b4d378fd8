"""What a data frame costs before a private fit: bounds that are too wide, and cells that are missing.

`loose.table` and `missing.table` measure on made data, from seeds to tables, in seconds. `figures` draws them.
"""
