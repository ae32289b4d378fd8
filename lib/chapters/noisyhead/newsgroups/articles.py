r"""Articles as section 7 of arXiv:2504.16000v2 describes them: their D largest TF-IDF scores, and their length.

TF-IDF is scikit-learn's: words of two or more characters in lower case, smoothed inverse frequencies, each article's
scores divided by their norm. The D largest scores of an article stand in falling order, whichever words they belong to;
an article with fewer distinct words has zeros at the end. **None of this is private**: every article's scores depend on
all articles through the inverse frequencies.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer

from chapters.noisyhead.newsgroups.words import PARAGRAPH, Words
from companion.streams import generator
from costofprivacy import datasets

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


def chosen(most: int, seed: int) -> tuple[list[str], np.ndarray, int]:
    """The posts that are used, their groups, and how many there are: all, or so many drawn at random.

    Raises:
        DataMissing, DataDamaged: as `datasets.newsgroups`.
    """
    posts = datasets.newsgroups()
    total = len(posts.texts)
    rows = np.arange(total)
    if 0 < most < total:
        rows = np.sort(generator(seed, 1, 0).choice(total, most, replace=False))
    return [posts.texts[i] for i in rows], posts.groups[rows], total
