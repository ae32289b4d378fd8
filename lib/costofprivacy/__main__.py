"""``python -m costofprivacy {chapters,results,self-test}``: what the book found, wherever the package is installed."""

import argparse
import importlib
import inspect
import os
import platform
import sys

from companion import published
from costofprivacy import __version__

RECORDS, FEATURES, EPSILON, DELTA = 2000, 3, 1.0, 1e-6  # of the private fit by which an installation tests itself
LEAST_R2 = 0.5  # of that fit, which reaches about 0.9: less means that something is wrong


def question(name: str) -> str:
    """What a chapter asks: the words of the package that serves it."""
    module = importlib.import_module(f"chapters.{name.replace('/', '.').replace('-', '_')}")
    return " ".join(inspect.cleandoc(module.__doc__ or "").split())


def chapters() -> None:
    """Print the chapters that have results, with the numbers of their tables and findings and their questions."""
    names = published.chapters()
    width = max(map(len, names), default=0)
    for name in names:
        found = published.results(name)
        print(f"{name:<{width}}  {len(found):>2} tables  {len(found.findings):>2} findings  {question(name)}")


def results(name: str, table: str) -> None:
    """Print a chapter's table as CSV; without one the names of its tables, and its verdicts."""
    found = published.results(name)
    if table:
        print(found[table].to_csv(index=False), end="")
        return
    for each in found:
        print(f"{each:<24}  {len(found[each]):>5} rows  {', '.join(found[each].columns)}")
    for row in found.verdicts.itertuples():
        print(f"{row.claim:<40}  {row.verdict:<16}  {row.headline}")


def self_test() -> str:
    """Try what needs the package and its dependencies whole: a private fit, its budget, and the book's results.

    Returns:
        A line that says what was tried.

    Raises:
        RuntimeError: something does not work.
    """
    explained, spent = _private_fit()
    if not (explained >= LEAST_R2 and abs(spent - EPSILON) <= 1e-3 * EPSILON):
        raise RuntimeError(
            f"a private fit at epsilon = {EPSILON:g} explains R2 = {explained:.2f} and spends {spent:.6g}"
        )
    tables, findings, claims = _results()
    return (
        f"costofprivacy {__version__} works under Python {platform.python_version()}: a private fit at epsilon = "
        f"{spent:.3g} has R2 = {explained:.2f}; {tables} tables and {findings} findings on {claims} claims are readable"
    )


def _private_fit() -> tuple[float, float]:
    """R² of a private regression on records that are made here, on other such records, and the ε that it spent."""
    numpy, estimators = (importlib.import_module(name) for name in ("numpy", "costofprivacy.estimators"))
    rng = numpy.random.default_rng(0)
    features = rng.standard_normal((2 * RECORDS, FEATURES))
    responses = features @ [0.6, -0.6, 0.4] + 0.3 * rng.standard_normal(2 * RECORDS)
    model = estimators.DPGDRegressor(epsilon=EPSILON, delta=DELTA).fit(features[:RECORDS], responses[:RECORDS])
    explained = model.score(features[RECORDS:], responses[RECORDS:])
    return float(explained), float(model.profile_.last_iterate.epsilon(DELTA))


def _results() -> tuple[int, int, int]:
    """The numbers of the book's tables, findings and claims, all of which are read.

    Raises:
        RuntimeError: there are none, or a finding is on a claim that is not listed.
    """
    register = importlib.import_module("companion.judging.claims").read_register(published.book() / "claims.yml")
    found = [published.results(name) for name in published.chapters()]
    tables = sum(not table.empty for each in found for table in each.values())
    judged = {claim for each in found for claim in each.findings}
    if not (tables and judged and judged <= set(register)):
        raise RuntimeError(
            f"the results are not whole: {tables} tables, {len(judged)} of {len(register)} claims judged"
        )
    return tables, len(judged), len(register)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m costofprivacy", description="What The Cost of Privacy found.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("chapters", help="the chapters that have results, and what they ask")
    one = commands.add_parser("results", help="the tables and verdicts of a chapter; one of its tables as CSV")
    one.add_argument("name")
    one.add_argument("table", nargs="?", default="")
    commands.add_parser("self-test", help="whether this installation works: a private fit, its budget, the results")
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "chapters":
            chapters()
        elif asked.command == "self-test":
            print(self_test())
        else:
            results(asked.name, asked.table)
        sys.stdout.flush()
    except (ValueError, KeyError, FileNotFoundError) as error:
        print(f"error: {error.args[0]}", file=sys.stderr)
        return 2
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads has enough, such as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
