"""What a case weighs where its verdict does not weigh what it usually does, nor what it weighs in the book.

By claim and verdict, or by one case, ``claim: name``.
"""

from costofprivacy.findings import Consequence, Verdict

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
NONE, NUMBERS, CONCLUSION = Consequence
USUAL = {HOLDS: NONE, CORRECTED: NUMBERS, NARROWER: CONCLUSION, FAILS: CONCLUSION, UNTESTABLE: NONE}
WEIGHTS = {
    "dpgd/equation-1.2: its second term stays": NUMBERS,
    "dpgd/equation-1.2: its second term falls and rises": NUMBERS,
    ("dpgd/equation-1.1", FAILS): NUMBERS,
    ("dpgd/equation-a.3", FAILS): NUMBERS,
    ("dpgd/lemma-b.1-mu", FAILS): NUMBERS,
    ("dpgd/lemma-b.1-nu", FAILS): NUMBERS,
    "dpgd/lemma-b.2-bounds: a level constant of mu": NUMBERS,
    "dpgd/lemma-b.2-bounds: a level constant of nu": NUMBERS,
    "dpgd/lemma-b.2-bounds: a constant rises at one noise": NUMBERS,
    "dpgd/lemma-b.2-bounds: a constant of zero": NUMBERS,
    ("dpgd/equation-b.24", FAILS): NUMBERS,
    "dpgd/equation-5.29: the proof promises more": NUMBERS,
    ("dpgd/section-5.2-zcdp", FAILS): NUMBERS,
    "dpgd/lemma-d.6: a moment of the prior is off": NUMBERS,
    ("dpgd/equation-d.134", FAILS): NUMBERS,
    ("dpgd/equation-d.157", FAILS): NUMBERS,
    ("dpgd/equation-5.22", FAILS): NUMBERS,
    "dpgd/figure-8: behind at one size": CONCLUSION,
    "dpgd/figure-5: better beyond the line": NUMBERS,
    ("dpgd/section-5.1-large-clip-real", NARROWER): NUMBERS,
    ("dpgd/section-7-theory-harmonic", NARROWER): NUMBERS,
    ("dpgd/equation-5.24", FAILS): NUMBERS,
    ("dpgd/lemma-d.5", FAILS): NUMBERS,
    "noisyhead/figure-3: the published settings miss one": NUMBERS,
    ("noisyhead/section-6.2-monotone", FAILS): NUMBERS,
    ("noisyhead/section-6.2-monotone", NARROWER): NONE,
    "noisyhead/section-4-optimal-stopping: T^3.35, and log N from zero too": NUMBERS,
    "noisyhead/figure-2: a published number misses": NUMBERS,
    ("noisyhead/theorem-1.1-high", NARROWER): NUMBERS,
    ("noisyhead/section-1.1-regimes", CORRECTED): CONCLUSION,
    ("noisyhead/equation-a.18", FAILS): NUMBERS,
    ("noisyhead/equation-a.19", FAILS): NUMBERS,
    ("noisyhead/equation-a.18", NARROWER): NUMBERS,
    ("noisyhead/tail-before-lemma-a.2", FAILS): NUMBERS,
    ("noisyhead/equation-2.3", FAILS): NUMBERS,
    ("noisyhead/equation-2.4", FAILS): NUMBERS,
    ("noisyhead/equation-2.5", FAILS): NUMBERS,
    "noisyhead/figure-1: the published settings miss": NUMBERS,
    ("noisyhead/equation-a.15", FAILS): NUMBERS,
    ("noisyhead/equation-a.16", FAILS): NUMBERS,
    ("noisyhead/equation-a.17", FAILS): NUMBERS,
    ("noisyhead/equation-a.1", CORRECTED): CONCLUSION,
    ("noisyhead/section-1.2-accounting", FAILS): NUMBERS,
    ("dpgd/section-4-last-iterate", FAILS): NUMBERS,
    "dpgd/section-4-last-iterate: the last spends more": CONCLUSION,
    "noisyhead/table-1: one factor, but the order is gone": CONCLUSION,
    ("noisyhead/appendix-b-scaling", NARROWER): NUMBERS,
    "noisyhead/figure-4: the published numbers do not come out": NUMBERS,
    ("noisyhead/remark-5.1-window", FAILS): NUMBERS,
    ("noisyhead/equation-a.21", FAILS): NUMBERS,
    "noisyhead/section-7-data: enough, but not as many": NUMBERS,
    ("noisyhead/section-7-accumulation", FAILS): NUMBERS,
}
