"""``python -m costofprivacy {chapters,results}``: what the book found, wherever the package is installed."""

import argparse
import importlib
import inspect
import os
import sys

from costofprivacy import __version__, published


def question(name: str) -> str:
    """What a chapter asks: the words of the package that serves it."""
    module = importlib.import_module(f"costofprivacy.experiments.{name.replace('/', '.').replace('-', '_')}")
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


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m costofprivacy", description="What The Cost of Privacy found.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("chapters", help="the chapters that have results, and what they ask")
    one = commands.add_parser("results", help="the tables and verdicts of a chapter; one of its tables as CSV")
    one.add_argument("name")
    one.add_argument("table", nargs="?", default="")
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "chapters":
            chapters()
        else:
            results(asked.name, asked.table)
        sys.stdout.flush()
    except (ValueError, KeyError, FileNotFoundError) as error:
        print(f"error: {error.args[0]}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever reads has enough, such as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
