r"""The words of many texts, found once: where each begins and which it is, for every way to cut the texts into pieces.

A word is scikit-learn's, ``\b\w\w+\b`` of the text in lower case: a longest run of two or more letters, digits and
underscores. No word has white space in it, so a text's words are those of its paragraphs, one after the other, and
those of its sentences. A cut only says to which piece a word belongs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costofprivacy._compiled import compiled

PARAGRAPH = re.compile(r"\n\s*\n")  # an empty line
SENTENCE = re.compile(r"[.!?]\s")  # the end of one
_BETWEEN = "\n"  # stands between two texts, of neither
_CHARACTERS = 0x110000


@dataclass(frozen=True, eq=False)
class Words:
    """The words of texts, in their order.

    Args:
        text: all texts together, in lower case. starts: where each text begins in it, shape (texts,).
        begins: where each word begins in it. numbers: which word it is, from 0; both of shape (words,).
    """

    text: str
    starts: np.ndarray
    begins: np.ndarray
    numbers: np.ndarray

    @cached_property
    def posts(self) -> np.ndarray:
        """The text in which each word stands, from 0."""
        return np.searchsorted(self.starts, self.begins, side="right") - 1

    def pieces(self, cut: re.Pattern[str]) -> np.ndarray:
        """The piece in which each word stands, from 0, of those that have a word, where a text is cut at a pattern."""
        ends = np.fromiter((match.end() for match in cut.finditer(self.text)), dtype=np.int64)
        within = np.searchsorted(ends, self.begins, side="right")
        new = (np.diff(within) > 0) | (np.diff(self.posts) > 0)
        return np.concatenate([np.zeros(min(1, len(within)), dtype=np.int64), np.cumsum(new)])

    def different(self, pieces: np.ndarray) -> np.ndarray:
        """How many different words each piece has, shape (pieces,)."""
        count = int(pieces[-1]) + 1 if len(pieces) else 0
        return _different(pieces, self.numbers, count)


def words_of(texts: Sequence[str]) -> Words:
    """Find the words."""
    lower = [text.lower() for text in texts]
    text = _BETWEEN.join(lower)
    starts = np.concatenate([[0], np.cumsum([len(one) + len(_BETWEEN) for one in lower])[:-1]]).astype(np.int64)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    inside = np.concatenate([[False], _of_words(codes), [False]])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    begins, ends = edges[::2], edges[1::2]
    long = ends - begins > 1
    begins, ends = begins[long], ends[long]
    return Words(text, starts, begins, _numbered(codes, begins, ends))


def _of_words(codes: np.ndarray) -> np.ndarray:
    r"""Which characters are letters, digits or underscores: ``\w``."""
    present = np.zeros(_CHARACTERS, dtype=bool)
    present[codes] = True
    table = np.zeros(_CHARACTERS, dtype=bool)
    table[[code for code in np.flatnonzero(present) if chr(code).isalnum() or chr(code) == "_"]] = True
    return table[codes]


@compiled
def _numbered(codes: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Number words in the order in which they first stand: a table of places by hash (FNV), looked up in turn."""
    size = 16
    while size < 2 * len(begins):
        size *= 2
    first, numbers, found = np.full(size, -1, np.int32), np.empty(len(begins), np.int32), 0
    for k in range(len(begins)):
        length, place = ends[k] - begins[k], np.uint64(14695981039346656037)
        for i in range(begins[k], ends[k]):
            place = (place ^ np.uint64(codes[i])) * np.uint64(1099511628211)
        place = (place ^ (place >> np.uint64(32))) & np.uint64(size - 1)
        while first[place] >= 0 and not _same(codes, begins[first[place]], ends[first[place]], begins[k], length):
            place = (place + np.uint64(1)) & np.uint64(size - 1)
        if first[place] < 0:
            first[place], numbers[k] = k, found
            found += 1
        else:
            numbers[k] = numbers[first[place]]
    return numbers


@compiled
def _same(codes: np.ndarray, begin: int, end: int, other: int, length: int) -> bool:
    """Whether two words are the same."""
    if end - begin != length:
        return False
    for i in range(length):  # noqa: SIM110 - compiled
        if codes[begin + i] != codes[other + i]:
            return False
    return True


@compiled
def _different(pieces: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
    """Different words of each piece; a word's last piece so far says whether it is new."""
    most = 0
    for number in numbers:
        most = max(most, number + 1)
    last, found = np.full(most, -1, np.int64), np.zeros(count, np.int64)
    for k in range(len(numbers)):
        if last[numbers[k]] != pieces[k]:
            last[numbers[k]] = pieces[k]
            found[pieces[k]] += 1
    return found
