"""One module for each chapter: its parameters, its measurement, its tables, its figures and its verdicts.

A chapter ``a/b-c`` is served by ``chapters.a.b_c``, whose frozen dataclass ``Experiment`` has exactly the chapter's
parameters as fields. ``Experiment(...)`` validates them; ``run(runner)`` returns the tables by name. Inside,
``experiment`` measures, ``verdicts`` judges (each ``judge_...`` a pure function of tables) and ``pages`` shows (each
``draw_...`` a pure function that returns a figure); arrows point from pages to verdicts to experiment.
"""
