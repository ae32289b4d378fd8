"""Which tables of other chapters the page that chooses a method shows: it is stale when one of them is another."""

from costofprivacy.experiments.privacy.rivals import diffprivlib

RIVALS, HEADS = "privacy/rivals", "noisyhead/a-head-that-works"
CAMPAIGN = "privacy/best-method"  # with ("cases",) among the tables, the page names its winner by measured cases
TABLES: dict[str, tuple[str, ...]] = {
    RIVALS: ("errors", diffprivlib.NAME),
    HEADS: ("test-error", "ladder", "tasks"),
}
