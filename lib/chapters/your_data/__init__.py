"""What a data frame costs before a private fit: bounds that are too wide or have to be found, and missing cells.

`loose.table`, `finding.table` and `missing.table` measure on made data, from seeds to tables, in seconds. `figures`
draws them.
"""
