"""``python -m costofprivacy self-test``: whether an installation works."""

import argparse
import platform
import sys

import numpy as np

from costofprivacy import __version__
from costofprivacy.estimators import DPGDRegressor

RECORDS, FEATURES, EPSILON, DELTA = 2000, 3, 1.0, 1e-6  # of the private fit by which an installation tests itself
LEAST_R2 = 0.5  # of that fit, which reaches about 0.9: less means that something is wrong


def self_test() -> tuple[float, float]:
    """A private regression, which needs the package and its dependencies whole.

    Returns:
        R² on other records than those of the fit, and the ε that it spent.
    """
    rng = np.random.default_rng(0)
    features = rng.standard_normal((2 * RECORDS, FEATURES))
    responses = features @ [0.6, -0.6, 0.4] + 0.3 * rng.standard_normal(2 * RECORDS)
    model = DPGDRegressor(epsilon=EPSILON, delta=DELTA).fit(features[:RECORDS], responses[:RECORDS])
    explained = model.score(features[RECORDS:], responses[RECORDS:])
    return float(explained), float(model.profile_.last_iterate.epsilon(DELTA))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m costofprivacy", description="Private linear regression, judged.")
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("command", choices=["self-test"], help="whether this installation works: a private fit")
    parser.parse_args(arguments)
    explained, spent = self_test()
    if not (explained >= LEAST_R2 and abs(spent - EPSILON) <= 1e-3 * EPSILON):
        fit = f"explains R2 = {explained:.2f} and spends {spent:.6g}"
        print(f"error: a private fit at epsilon = {EPSILON:g} {fit}", file=sys.stderr)
        return 1
    where = f"costofprivacy {__version__} works under Python {platform.python_version()}"
    print(f"{where}: a private fit at epsilon = {spent:.3g} has R2 = {explained:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
