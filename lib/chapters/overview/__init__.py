"""The pages that join the chapters: what their prose says is computed from the saved tables and findings.

The page ``book/<name>.md`` is prose with places ``{{ key }}``; the module of its name here has a function ``values`` of
a `saved.Saved` that fills them: texts, and plates, which become figures. A claim's name is what was found of it.
"""
