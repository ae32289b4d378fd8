"""Steps of noisy descents that are planned side by side: their lengths, and what each leaves of the errors.

Candidates stand in arrays of shape (K,); a `Course` follows them all in one `expected.Model`. The module text of
`expected` has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costofprivacy.estimators.expected import FAR, Model, Records


@dataclass(eq=False)
class Course:
    """The errors of K descents in one model, step by step.

    Args:
        model: of the spectrum. errors: e of the iterates, shape (K, g). still: what is left of the way from 0, p,
            likewise. sizes: m and l, of their bias and of their distance to least squares, shape (2, K, g).
    """

    model: Model
    errors: np.ndarray
    still: np.ndarray
    sizes: np.ndarray

    def __post_init__(self) -> None:
        self.begin()

    @classmethod
    def started(cls, model: Model, count: int) -> Course:
        """K descents at θ = 0."""
        start = np.tile(model.start, (count, 1))
        return cls(model, start, np.ones_like(start), np.zeros((2, *start.shape)))

    def repeated(self, times: int) -> Course:
        """Each descent so many times, one after the other."""
        each = (np.repeat(part, times, axis=-2) for part in (self.errors, self.still, self.sizes))
        return Course(self.model, *each)

    def begin(self) -> None:
        """Let the means begin with the next iterates."""
        self._cross, self._square, self._path = (np.zeros_like(self.errors) for _ in range(3))
        self._sums = np.zeros_like(self.sizes)
        self._count = np.zeros(len(self.errors))
        self._lost = np.zeros(self.errors.shape, dtype=bool)

    def take(self, order: np.ndarray) -> None:
        """Put the descents into another order."""
        for name in ("errors", "still", "_cross", "_square", "_path", "_count", "_lost"):
            setattr(self, name, getattr(self, name)[order])
        self.sizes, self._sums = self.sizes[:, order], self._sums[:, order]

    def step(self, on: slice, clip: np.ndarray, length: np.ndarray, noise: np.ndarray, records: Records) -> None:
        """One step of some of the descents.

        Args:
            on: which. clip: c. length: η. noise: s; each of shape (K,). records: of all.
        """
        model, own = self.model, records.at(on)
        targets = model.targets(clip[on], own, model.risk(self.errors[on]))
        factor = model.factor(self.errors[on], clip[on], length[on], own.kept)
        self.errors[on] = model.stepped(self.errors[on], factor, length[on], noise[on])
        self.still[on] *= factor
        self.sizes[:, on] = factor * self.sizes[:, on] + (1 - factor) * targets
        self._square[on] += 2 * factor * self._cross[on] + self.errors[on]
        self._cross[on] = factor * self._cross[on] + self.errors[on]
        self._path[on] += self.still[on]
        self._sums[:, on] += self.sizes[:, on]
        self._count[on] += 1
        self._lost[on] |= self.errors[on] >= FAR * model.start

    def mean(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """e, p and sizes of the mean of the iterates since `begin`, at least one; what diverged has the largest e."""
        count = self._count[:, None]
        errors = np.where(self._lost, FAR * self.model.start, self._square / count**2)
        return errors, self._path / count, self._sums / count


def walk(
    courses: list[Course],
    clip: np.ndarray,
    rate: np.ndarray,
    steps: np.ndarray,
    noise: np.ndarray,
    records: Records,
) -> np.ndarray:
    """Take steps whose lengths are planned for the risk that the middle model expects by then.

    Args:
        courses: one for each model, the same descents in each. clip: c. rate: ημ. steps: T. noise: s of a coordinate of
            the mean gradient; each of shape (K,). records: how they are shortened.

    Returns:
        The lengths η, shape (K, most steps), 0 where a descent has ended.
    """
    order = np.argsort(-steps, kind="stable")  # those that still step come first, as a slice is no copy
    for course in courses:
        course.take(order)
    clip, rate, steps, noise, records = clip[order], rate[order], steps[order], noise[order], records.at(order)
    middle = courses[len(courses) // 2]
    lengths = np.zeros((len(clip), int(steps.max(initial=0))))
    for step in range(lengths.shape[1]):
        on = slice(np.count_nonzero(steps > step))
        reduction = middle.model.reduction(clip[on], middle.model.risk(middle.errors[on]))
        lengths[on, step] = rate[on] / reduction
        for course in courses:
            course.step(on, clip, lengths[:, step], noise, records)
    back = np.argsort(order)
    for course in courses:
        course.take(back)
    return lengths[back]
