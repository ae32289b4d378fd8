"""Which tables of other chapters the page that chooses a method shows: it is stale when one of them is another."""

HEADS, CAMPAIGN = "noisyhead/a-head-that-works", "privacy/best-method"
TABLES: dict[str, tuple[str, ...]] = {
    HEADS: ("test-error", "ladder", "tasks"),
    CAMPAIGN: ("cases",),
}
