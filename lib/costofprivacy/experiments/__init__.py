"""One module for each chapter: its parameters, its measurement, its tables, its figures and its verdicts.

A chapter ``a/b-c`` is served by the module ``experiments.a.b_c``, whose frozen dataclass ``Experiment`` has exactly the
chapter's parameters as fields. ``Experiment(...)`` validates them; ``run(runner)`` returns the tables by name; each
``judge_...`` is a pure function of tables, each ``draw_...`` a pure function that returns a figure.
"""
