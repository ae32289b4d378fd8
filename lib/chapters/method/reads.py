"""Which tables of other chapters the page that chooses a method shows: it is stale when one of them is another."""

from chapters.privacy.rivals import measure as rivals_measure

RIVALS, HEADS = "privacy/rivals", "noisyhead/a-head-that-works"
CAMPAIGN = "privacy/best-method"
TABLES: dict[str, tuple[str, ...]] = {
    RIVALS: ("errors", rivals_measure.NAME),
    HEADS: ("test-error", "ladder", "tasks"),
    CAMPAIGN: ("cases",),
}
