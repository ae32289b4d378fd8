"""20 Newsgroups as section 7 of arXiv:2504.16000v2 describes it: words, articles, and every way to cut them."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer

from companion.streams import generator
from costofprivacy import datasets
from costofprivacy._compiled import compiled

# ---- Words ----
# A word is scikit-learn's, ``\b\w\w+\b`` of the text in lower case: a longest run of two or more letters, digits and
# underscores. No word has white space in it, so a text's words are those of its paragraphs, one after the other, and
# those of its sentences. A cut only says to which piece a word belongs.

PARAGRAPH = re.compile(r"\n\s*\n")  # an empty line
SENTENCE = re.compile(r"[.!?]\s")  # the end of one
_BETWEEN = "\n"  # stands between two texts, of neither


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
        return _different(pieces, self.numbers, int(pieces[-1]) + 1 if len(pieces) else 0)


def words_of(texts: Sequence[str]) -> Words:
    """Find the words."""
    lower = [text.lower() for text in texts]
    text = _BETWEEN.join(lower)
    starts = np.concatenate([[0], np.cumsum([len(one) + len(_BETWEEN) for one in lower])[:-1]]).astype(np.int64)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    word = np.zeros(0x110000, dtype=bool)  # which characters are letters, digits or underscores: \w
    word[[code for code in np.unique(codes) if chr(code).isalnum() or chr(code) == "_"]] = True
    inside = np.concatenate([[False], word[codes], [False]])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    begins, ends = edges[::2], edges[1::2]
    long = ends - begins > 1
    begins, ends = begins[long], ends[long]
    return Words(text, starts, begins, _numbered(codes, begins, ends))


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


# ---- Articles ----
# TF-IDF is scikit-learn's: words of two or more characters in lower case, smoothed inverse frequencies, each article's
# scores divided by their norm. The D largest scores of an article stand in falling order, whichever words they belong
# to; an article with fewer distinct words has zeros at the end. **None of this is private**: every article's scores
# depend on all articles through the inverse frequencies.

NOTHING, HEADERS, ALL_THREE = "nothing", "headers", "headers, footers and quotes"
REMOVALS = {NOTHING: (), HEADERS: ("headers",), ALL_THREE: ("headers", "footers", "quotes")}


@dataclass(frozen=True)
class Articles:
    """Articles with what a prompt holds of each; equal where all numbers are.

    Args:
        name: of the data set. instead_of: what it stands in for; else empty. available: articles in the set.
        scores: the D largest TF-IDF scores in falling order, shape (articles, D), of norm at most 1.
        lengths: numbers of words, shape (articles,). groups: shape (articles,). digest: of the three arrays.
    """

    name: str
    instead_of: str
    available: int
    scores: np.ndarray = field(repr=False, compare=False)
    lengths: np.ndarray = field(repr=False, compare=False)
    groups: np.ndarray = field(repr=False, compare=False)
    digest: str = ""

    def __post_init__(self) -> None:
        content = b"".join(np.ascontiguousarray(a).tobytes() for a in (self.scores, self.lengths, self.groups))
        object.__setattr__(self, "digest", hashlib.sha256(content).hexdigest())

    def __len__(self) -> int:
        return len(self.lengths)


def largest_scores(scores: csr_matrix, D: int) -> np.ndarray:
    """The D largest entries of each row in falling order, zeros where there are fewer, shape (rows, D)."""
    found = np.zeros((scores.shape[0], D))
    for i, (first, last) in enumerate(zip(scores.indptr[:-1], scores.indptr[1:], strict=True)):
        row = np.sort(scores.data[first:last])[::-1][:D]
        found[i, : len(row)] = row
    return found


def of_posts(words: Words, groups: np.ndarray, D: int, available: int) -> Articles:
    """Articles of the posts of 20 Newsgroups, each with one word at least."""
    return _of_pieces(words.numbers, words.posts, groups, D, available)


def of_paragraphs(words: Words, groups: np.ndarray, D: int, available: int) -> Articles:
    """Articles of the parts between empty lines that have at least D distinct words."""
    pieces = words.pieces(PARAGRAPH)
    enough = words.different(pieces) >= D
    kept = enough[pieces]
    group = groups[words.posts[np.flatnonzero(np.diff(pieces, prepend=-1))]]
    return _of_pieces(words.numbers[kept], (np.cumsum(enough) - 1)[pieces[kept]], group[enough], D, available)


def _of_pieces(numbers: np.ndarray, pieces: np.ndarray, groups: np.ndarray, D: int, available: int) -> Articles:
    """Articles of pieces: which word each is, and in which piece it stands."""
    shape = len(groups), int(numbers.max(initial=-1)) + 1
    counts = csr_matrix((np.ones(len(numbers)), (pieces, numbers)), shape=shape)
    scores = csr_matrix(TfidfTransformer().fit_transform(counts))
    lengths = np.bincount(pieces, minlength=len(groups)).astype(float)
    return Articles(datasets.NEWSGROUPS, "", available, largest_scores(scores, D), lengths, groups)


def of_digits(D: int) -> Articles:
    """The bundled stand-in: scikit-learn's pictures of digits, a word a place, as often as there is ink on it."""
    counts, digit = load_digits(return_X_y=True)
    scores = csr_matrix(TfidfTransformer().fit_transform(csr_matrix(counts)))
    found = largest_scores(scores, D)
    return Articles(datasets.BAGS, datasets.NEWSGROUPS, len(counts), found, counts.sum(axis=1), digit)


def chosen(most: int, seed: int, removed: str = NOTHING) -> tuple[list[str], np.ndarray, int]:
    """The posts that are used, their groups, and how many there are: all, or so many drawn at random.

    Raises:
        DataMissing, DataDamaged: as `datasets.newsgroups`.
    """
    posts = datasets.newsgroups(remove=REMOVALS[removed])
    total = len(posts.texts)
    rows = np.arange(total)
    if 0 < most < total:
        rows = np.sort(generator(seed, 1, 0).choice(total, most, replace=False))
    return [posts.texts[i] for i in rows], posts.groups[rows], total


# ---- Counts ----

PIECES = ("posts", "paragraphs", "sentences")


@dataclass(frozen=True)
class Cut:
    """What is cut out of a post, and how many of the posts are looked at (0: all)."""

    removed: str
    posts: int
    D: int
    seed: int
    key: ClassVar[int] = 0  # nothing is drawn but the posts

    @property
    def least(self) -> tuple[int, int]:
        """The least numbers of distinct words that a piece may have to have."""
        return 1, self.D


def counted(cut: Cut, *, rng: np.random.Generator) -> np.ndarray:
    """How many pieces have at least one, and at least D distinct words, shape (3, 2); `PIECES` in order."""
    words = words_of(chosen(cut.posts, cut.seed, cut.removed)[0])
    pieces = (words.posts, words.pieces(PARAGRAPH), words.pieces(SENTENCE))
    different = [words.different(piece) for piece in pieces]
    return np.array([[(number >= least).sum() for least in cut.least] for number in different])


def rows(found: dict[Cut, np.ndarray], tokens: int, wanted: int) -> pd.DataFrame:
    """Table ``counts``: pieces by cut, disjoint prompts of so many tokens, and the windows nearest to those wanted."""
    table = []
    for cut, values in found.items():
        for piece, by_least in zip(PIECES, values[0], strict=True):
            for least, number in zip(cut.least, by_least, strict=True):
                stride = max(1, round((number - tokens) / max(1, wanted - 1)))
                windows = int(max(0, (number - tokens) // stride + 1))
                counts = (int(number), int(number // tokens), stride, windows, wanted)
                table.append((cut.removed, piece, least, *counts))
    names = ["removed", "piece", "least_words", "pieces", "disjoint", "stride", "windows", "wanted"]
    return pd.DataFrame(table, columns=names)
