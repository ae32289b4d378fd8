"""The checked sentences of the page on a private head that works, the same at every number of trials."""

from __future__ import annotations

from costofprivacy.experiments.noisyhead.a_head_that_works import findings, ladder
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import ISOTROPIC, NO_DATA
from costofprivacy.judging.sentences import Check, Sentences, checked
from costofprivacy.judging.tables import Tables

MOST = 0.5  # of the gap, or of the cells


def statements(tables: Tables) -> Sentences:
    """What was found, of what was asked for alone."""
    wanted = set(tables["test-error"]["covariance"])
    unknown = bool(wanted - {ISOTROPIC})
    needs = (
        (bool(findings.aims(tables)), AIMS),
        (True, ALONE),
        (unknown, MISLED),
        (ISOTROPIC in wanted, ON_ISOTROPIC),
        (unknown, UNEVEN),
        (len(findings.won(tables["area"])) > 0, WORTH),
        (len(findings.won(tables["area"], unknown=False)) > 0, NEVER),
        (True, POISONED),
    )
    return checked(tables, tuple(check for met, checks in needs if met for check in checks))


def clipping_matters(tables: Tables) -> bool:
    """Whether clipping beats the head without data and the same descent within bounds does not, where it is unknown."""
    rows = findings.steps(tables, findings.plain_and_ill(tables)[1])["test_error"]
    return bool(rows[ladder.CLIPPED] < rows[NO_DATA] <= rows[ladder.UNCLIPPED])


AIMS: tuple[Check, ...] = (
    (
        lambda t: all(findings.over_non_private(t, name) <= share for name, share in findings.aims(t).items()),
        "At the largest size the private head is about as good as the best non-private one.",
        "At the largest size the private head is far from the best non-private one.",
    ),
)
ALONE: tuple[Check, ...] = (
    (
        lambda t: bool(findings.fewer(t).mean() > MOST),
        "Where tasks are isotropic, estimating the features' covariance alone errs less than the private head.",
        "Where tasks are isotropic, estimating the features' covariance alone errs no less than the private head.",
    ),
)
MISLED: tuple[Check, ...] = (
    (
        lambda t: bool((findings.misled(t)["factor"] > 1).any()),
        "Where tasks are not isotropic, there are cases in which the covariance alone errs more than the private head.",
        "Where tasks are not isotropic, the covariance alone errs no more than the private head.",
    ),
)
ON_ISOTROPIC: tuple[Check, ...] = (
    (
        findings.no_data_is_best,
        "On isotropic prompts the best head is known before any prompt is seen.",
        "On isotropic prompts the head without data is not the best.",
    ),
    (
        lambda t: findings.closed(t, ISOTROPIC, ladder.UNCLIPPED) > findings.closed(t, ISOTROPIC, ladder.CLIPPED),
        "On isotropic prompts dropping the penalty and searching the bounds closes more of the gap than clipping "
        "each prompt's gradient.",
        "On isotropic prompts clipping each prompt's gradient closes more of the gap than dropping the penalty and "
        "searching the bounds.",
    ),
    (
        lambda t: bool(findings.steps(t, ISOTROPIC)["left"][ladder.LAST] > MOST),
        "Better accounting alone leaves most of the gap.",
        "Better accounting alone closes most of the gap.",
    ),
)
UNEVEN: tuple[Check, ...] = (
    (
        clipping_matters,
        "With an unknown covariance clipping each prompt's gradient beats the head without data, and the same descent "
        "within bounds does not.",
        "With an unknown covariance clipping each prompt's gradient does not decide whether a descent beats the head "
        "without data.",
    ),
)
WORTH: tuple[Check, ...] = (
    (
        lambda t: bool(findings.won(t["area"]).any()),
        "With an unknown covariance there are sizes at which private pretraining beats the head without data.",
        "With an unknown covariance private pretraining never beats the head without data.",
    ),
)
NEVER: tuple[Check, ...] = (
    (
        lambda t: not findings.won(t["area"], unknown=False).any(),
        "On isotropic prompts private pretraining never beats the head that uses no data.",
        "On isotropic prompts private pretraining beats the head that uses no data at some sizes.",
    ),
)
POISONED: tuple[Check, ...] = (
    (
        lambda t: bool((t["poison"]["shift_over_noise"] <= t["poison"]["mu"]).all()),
        "One poisoned prompt moves the head by less than its privacy bound allows.",
        "One poisoned prompt moves the head by more than its privacy bound allows.",
    ),
)
