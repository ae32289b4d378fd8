"""The checked sentences of the page on a private head that works, the same at every number of trials."""

from collections.abc import Callable

from chapters.noisyhead.a_head_that_works import ladder, readings
from chapters.noisyhead.a_head_that_works.problems import ISOTROPIC, NO_DATA
from companion.judging.prose import percent
from companion.judging.sentences import Sentences, checked
from companion.judging.tables import Tables

Test = Callable[[Tables], bool]
MOST = 0.5  # of the gap, or of the cells


def statements(tables: Tables) -> Sentences:
    """What was found, of what was asked for alone."""
    return checked(tables, tuple((holds, yes, no) for asked, holds, yes, no in CHECKS if asked(tables)))


def clipping_matters(tables: Tables) -> bool:
    """Whether clipping beats the head without data and the same descent within bounds does not, where it is unknown."""
    rows = readings.steps(tables, readings.plain_and_ill(tables)[1])["test_error"]
    return bool(rows[ladder.CLIPPED] < rows[NO_DATA] <= rows[ladder.UNCLIPPED])


def _always(_: Tables) -> bool:
    return True


def _isotropic(tables: Tables) -> bool:
    return ISOTROPIC in set(tables["test-error"]["covariance"])


def _unknown(tables: Tables) -> bool:
    return bool(set(tables["test-error"]["covariance"]) - {ISOTROPIC})


def _near(name: str, share: float) -> tuple[Test, Test, str, str]:
    """Whether the private head comes within a share of least squares, of one covariance."""
    told = f"{readings.started(readings.where(name))} the private head's test error at the largest size is"
    return (
        lambda t: name in readings.aims(t),
        lambda t: readings.over_non_private(t, name) <= share,
        f"{told} at most {percent(share)} above that of least squares.",
        f"{told} more than {percent(share)} above that of least squares.",
    )


CHECKS: tuple[tuple[Test, Test, str, str], ...] = (  # where it is asked, whether it holds, and what is said
    *(_near(name, share) for name, share in readings.TARGETS.items()),
    (
        _always,
        lambda t: bool(readings.fewer(t).mean() > MOST),
        "Where tasks are isotropic, estimating the features' covariance alone has a smaller error than the private "
        "head.",
        "Where tasks are isotropic, estimating the features' covariance alone has no smaller error than the private "
        "head.",
    ),
    (
        _unknown,
        lambda t: bool((readings.misled(t)["factor"] > 1).any()),
        "Where tasks are not isotropic, there are cases in which the covariance alone has a larger error than the "
        "private head.",
        "Where tasks are not isotropic, the covariance alone has no larger error than the private head.",
    ),
    (
        _isotropic,
        readings.no_data_is_best,
        "On isotropic prompts the best head is known before any prompt is seen.",
        "On isotropic prompts the head without data is not the best.",
    ),
    (
        _isotropic,
        lambda t: readings.closed(t, ISOTROPIC, ladder.UNCLIPPED) > readings.closed(t, ISOTROPIC, ladder.CLIPPED),
        "On isotropic prompts dropping the penalty and searching the bounds closes more of the gap than clipping "
        "each prompt's gradient.",
        "On isotropic prompts clipping each prompt's gradient closes more of the gap than dropping the penalty and "
        "searching the bounds.",
    ),
    (
        _isotropic,
        lambda t: bool(readings.steps(t, ISOTROPIC)["left"][ladder.LAST] > MOST),
        "Better accounting alone leaves most of the gap.",
        "Better accounting alone closes most of the gap.",
    ),
    (
        _unknown,
        clipping_matters,
        "With an unknown covariance clipping each prompt's gradient beats the head without data, and the same descent "
        "within bounds does not.",
        "With an unknown covariance clipping each prompt's gradient does not decide whether a descent beats the head "
        "without data.",
    ),
    (
        lambda t: len(readings.won(t["area"])) > 0,
        lambda t: bool(readings.won(t["area"]).any()),
        "With an unknown covariance there are sizes at which private pretraining beats the head without data.",
        "With an unknown covariance private pretraining never beats the head without data.",
    ),
    (
        lambda t: len(readings.won(t["area"], unknown=False)) > 0,
        lambda t: not readings.won(t["area"], unknown=False).any(),
        "On isotropic prompts private pretraining never beats the head that uses no data.",
        "On isotropic prompts private pretraining beats the head that uses no data at some sizes.",
    ),
    (
        _always,
        lambda t: bool((t["poison"]["shift_over_noise"] <= t["poison"]["mu"]).all()),
        "One poisoned prompt moves the head by less than its privacy bound allows.",
        "One poisoned prompt moves the head by more than its privacy bound allows.",
    ),
)
