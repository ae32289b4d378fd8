"""How many prompts there can be: every way to cut 20 Newsgroups into articles, held against 822 + 205."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead.newsgroups.articles import REMOVALS
from chapters.noisyhead.newsgroups.words import PARAGRAPH, SENTENCE, words_of
from companion.streams import generator
from costofprivacy import datasets

POSTS, PARAGRAPHS, SENTENCES = "posts", "paragraphs", "sentences"
PIECES = (POSTS, PARAGRAPHS, SENTENCES)


@dataclass(frozen=True)
class Reading:
    """One reading of an article: what is cut out of a post, and how many of the posts are looked at (0: all)."""

    removed: str
    posts: int
    D: int
    seed: int

    @property
    def key(self) -> int:
        """Nothing is drawn but the posts."""
        return 0

    @property
    def least(self) -> tuple[int, int]:
        """The least numbers of distinct words that a piece may have to have."""
        return 1, self.D


def counted(reading: Reading, *, rng: np.random.Generator) -> np.ndarray:
    """How many pieces have at least one, and at least D distinct words, shape (3, 2); `PIECES` in order."""
    texts = list(datasets.newsgroups(remove=REMOVALS[reading.removed]).texts)
    if 0 < reading.posts < len(texts):
        rows = generator(reading.seed, 1, 0).choice(len(texts), reading.posts, replace=False)
        texts = [texts[i] for i in np.sort(rows)]
    words = words_of(texts)
    pieces = (words.posts, words.pieces(PARAGRAPH), words.pieces(SENTENCE))
    different = [words.different(piece) for piece in pieces]
    return np.array([[(number >= least).sum() for least in reading.least] for number in different])


def rows(found: dict[Reading, np.ndarray], tokens: int, wanted: int) -> pd.DataFrame:
    """Table ``counts``: pieces by reading, disjoint prompts, and the windows that come nearest to the paper's number.

    Args:
        found: by reading, from `counted`. tokens: L + 1. wanted: prompts of the paper, for training and for testing.
    """
    table = []
    for reading, values in found.items():
        for piece, by_least in zip(PIECES, values[0], strict=True):
            for least, number in zip(reading.least, by_least, strict=True):
                stride = max(1, round((number - tokens) / max(1, wanted - 1)))
                table.append(
                    {
                        "removed": reading.removed,
                        "piece": piece,
                        "least_words": least,
                        "pieces": int(number),
                        "disjoint": int(number // tokens),
                        "stride": stride,
                        "windows": int(max(0, (number - tokens) // stride + 1)),
                        "wanted": wanted,
                    }
                )
    return pd.DataFrame(table)


def none() -> pd.DataFrame:
    """Table ``counts`` where there is no text to cut."""
    names = ("removed", "piece", "least_words", "pieces", "disjoint", "stride", "windows", "wanted")
    return pd.DataFrame(columns=list(names))
