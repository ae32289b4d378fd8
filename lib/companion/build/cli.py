"""The command line: ``python -m companion COMMAND``; ``--help`` lists the commands.

What was asked for wrongly ends in one line, ``error: ...``, and exit status 2; what failed, in one line and
status 1; an interrupt in one line and status 130.
"""

import logging
import os
import shlex
import signal
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from companion import of_chapters, question
from companion.build import notebooks, parameters
from companion.build.execute import folder_for
from companion.build.project import (
    BookError,
    Interrupted,
    Place,
    Project,
    RequestError,
    Say,
    check_name,
    is_plain,
    module_name,
    place,
    system_error,
)
from companion.checks import ANYWAY
from companion.declaration import rows
from companion.running import stamps

LATE = 30.0  # seconds that a scheduler may start after its workers
INTERRUPTED = "interrupted; finished blocks are kept, run the same command again to resume"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WORDS = "--words"
WIDTH = 100  # of what is said of parameters
Command = TypeVar("Command", bound=Callable[..., Any])


def spread(arguments: Sequence[str]) -> list[str]:
    """The arguments with the words of each ``--words TEXT``, what `make` hands on of P, at their end.

    The text is split as a shell would, but nothing is expanded or run: ``$``, backquotes and semicolons are letters. At
    the end an option among the words that lacks its value finds no other argument to take for it.

    Raises:
        RequestError: a quotation in a text does not end, or what stands after ``--`` would be taken for an option.
    """
    found: list[str] = []
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == WORDS:
            text = next(rest, "")
            try:
                words += shlex.split(text)
            except ValueError as error:
                problem = str(error).lower()
                raise RequestError(
                    f"P must be written like options on a command line, got {text!r}: {problem}"
                ) from error
        elif argument != "--":
            found.append(argument)
        elif not words:
            return [*found, argument, *rest]
        else:
            plain = list(rest)
            for each in (each for each in plain if each.startswith("-")):
                raise RequestError(f"NAME must be a chapter, and CLUSTER an address, got {each!r}")
            found += plain
    return found + words


def at_home(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """A path, or several, with ``~`` for a home folder: what `make` hands on, no shell has read."""
    if isinstance(value, str):
        return os.path.expanduser(value)
    return tuple(os.path.expanduser(each) for each in value)


CLUSTER = click.option(
    "--cluster",
    default="",
    metavar="ADDRESS",
    help="A Dask scheduler, whose workers run the trials.",
    callback=at_home,
)
OUT = partial(click.option, "--out", default="", metavar="DIR", callback=at_home)
NAMES = click.argument("names", nargs=-1, metavar="[NAME]...")
PRESET = click.option("--preset", default="quick", show_default=True, help="A file in book/presets, or 'paper'.")


def papermill_options(command: Command) -> Command:
    """Add the options by which papermill takes parameters, spelt as there, and the help on these."""
    pair = partial(click.option, nargs=2, multiple=True, type=str, metavar="NAME VALUE")
    text = partial(click.option, multiple=True)
    options = [
        pair("-p", "--parameters", help="A parameter."),
        pair("-r", "--parameters_raw", help="A parameter, as text."),
        text("-y", "--parameters_yaml", metavar="YAML", help="Parameters in YAML."),
        text("-f", "--parameters_file", metavar="FILE", help="A YAML file of parameters.", callback=at_home),
        click.option("-h", "--help", "helped", is_flag=True, help="Show this help and the chapter's parameters."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def overrides(given: dict[str, Any]) -> dict[str, Any]:
    """The parameters of all four options, with papermill's precedence: files, YAML, pairs, raw pairs."""
    found: dict[str, Any] = {}
    for file in given["parameters_file"]:
        found |= parameters.read_yaml_file(Path(file))
    for text in given["parameters_yaml"]:
        found |= parameters.read_yaml(text, "-y")
    return found | dict(given["parameters"]) | dict(given["parameters_raw"])


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--root", default=".", type=click.Path(path_type=Path), help="The project's root folder.")
@click.pass_context
def cli(context: click.Context, root: Path) -> None:
    """Execute, check and render the book."""
    context.obj = Project(root)


@cli.command("build")
@PRESET
@click.pass_obj
def build_command(project: Project, preset: str) -> None:
    """Execute the chapters that are out of date under a preset, and render the pages to _build/html."""
    from companion.build.build import build

    page = build(project, preset, click.echo, _warn)
    click.echo(f"the book is ready, open {page.resolve()}")


@cli.command("pages")
@click.pass_obj
def pages_command(project: Project) -> None:
    """Render the committed chapters to _build/html, at the papers' scale, without executing anything."""
    from companion.build.build import render_committed

    page = render_committed(project, click.echo, _warn)
    click.echo(f"the book is ready, open {page.resolve()}")


@cli.command("chapter", context_settings={"help_option_names": []})
@click.argument("name", default="")
@OUT(help="The output folder; _build/runs/NAME by default.")
@CLUSTER
@click.option("--anyway", is_flag=True, help="Allow values beyond the usual ranges and the free memory.")
@click.option("--profile", is_flag=True, help="Measure again in a single process, and report where the time was spent.")
@papermill_options
@click.pass_context
def chapter_command(
    context: click.Context, name: str, out: str, cluster: str, anyway: bool, profile: bool, helped: bool, **given: Any
) -> None:
    """Execute one chapter with other parameters, and write its notebook, tables and verdicts to a folder."""
    project: Project = context.obj
    if anyway:
        os.environ[ANYWAY] = "1"  # for the kernels, too
    if helped:
        click.echo(context.get_help())
        click.echo(f"\n{parameters_of(project, name)}" if name else "\nName a chapter to see its parameters.")
        return
    check_name(project, name)
    values = parameters.resolve(project, name, overrides(given))
    _answers(cluster)
    announce(project, name, [values], click.echo)
    folder = folder_for(project, out, "runs", name)

    from companion.build import freshness
    from companion.build.compare import BESIDE, beside
    from companion.build.environment import environment
    from companion.build.execute import Execution, execute
    from companion.running.progress import PROFILE, PROFILE_TEXT

    target = Place(folder / f"{Path(name).name}.ipynb", folder)
    saved = (folder, place(project.book, name).results)
    made_from = freshness.to_execute(project, name, values, project.book, saved)
    with environment({PROFILE: "1" if profile else None}):
        files = execute(project, Execution(name, values, target, project.book, saved=saved, cluster=cluster), _warn)
    freshness.write(target, made_from, files)
    click.echo(f"{name} is in {folder}: {', '.join([target.notebook.name, *files])}")
    committed, sides = place(project.book, name), (parameters.resolve(project, name, {}), values)
    book, here = ({key: value for key, value in side.items() if key != parameters.WORKERS} for side in sides)
    if here != book and committed.verdicts.is_file():
        click.echo(f"\ncompared with the book (details in {folder / BESIDE}.md and .json):")
        for line in beside(committed.results, folder, book, here):
            click.echo(f"  {line}")
    if PROFILE_TEXT in files:
        click.echo((folder / PROFILE_TEXT).read_text("utf-8"))


@cli.command("sweep", context_settings={"help_option_names": []})
@click.argument("name", default="")
@click.option("--sweep", "grids", multiple=True, metavar="NAME=VALUES", help="Values of a parameter: penalty=0.1,1,5")
@click.option("--table", "files", multiple=True, metavar="FILE", help="A CSV file of points.", callback=at_home)
@OUT(help="The output folder; _build/sweeps/NAME by default.")
@CLUSTER
@papermill_options
@click.pass_context
def sweep_command(
    context: click.Context,
    name: str,
    grids: tuple[str, ...],
    files: tuple[str, ...],
    out: str,
    cluster: str,
    helped: bool,
    **given: Any,
) -> None:
    """Measure one chapter at many parameters, and join its tables, with the parameters as columns.

    Each --sweep gives a parameter its values, in YAML, with commas between them; a list stands in brackets:
    --sweep penalty=0.1,1,5 --sweep epsilon=[0.2],[0.2,1.0]. Each --table is a CSV file of points, with the parameters
    as columns. Several combine to all their combinations. Other parameters are as in -p and the others. What is
    measured already is not measured again.
    """
    project: Project = context.obj
    if helped:
        click.echo(context.get_help())
        click.echo(f"\n{parameters_of(project, name)}" if name else "\nName a chapter to see its parameters.")
        return
    from companion.build import sweep
    from companion.build.environment import in_settled_environment

    in_settled_environment()
    planned = sweep.plan(project, check_name(project, name), overrides(given), grids, [Path(file) for file in files])
    folder = folder_for(project, out, "sweeps", name)
    homes = sweep.homes(project, planned, folder)
    _answers(cluster)
    announce(project, name, [planned.points[number] for number in sweep.missing(homes)], partial(click.echo, err=True))
    for line in sweep.run(project, planned, folder, cluster, partial(click.echo, err=True)):
        click.echo(line)


@cli.command("worker", context_settings={"ignore_unknown_options": True})
@click.argument("address", callback=at_home)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def worker_command(address: str, options: tuple[str, ...]) -> None:
    """Work for the Dask scheduler at ADDRESS: a process for each core, with the settings that give the book's bits.

    OPTIONS are those of `dask worker`.
    """
    from companion.build.environment import work_for

    if not address:
        raise RequestError("CLUSTER must be the address of a Dask scheduler, such as tcp://host:8786, got ''")
    _answers(address, LATE)
    work_for(address, options)


@cli.command("refresh")
@NAMES
@click.option("--force", is_flag=True, help="Execute chapters that are up to date, too.")
@click.pass_obj
def refresh_command(project: Project, names: tuple[str, ...], force: bool) -> None:
    """Execute the committed chapters that are out of date in place, at the papers' scale."""
    from companion.build.build import refresh

    refresh(project, _known(project, names), force, click.echo)
    click.echo("the committed chapters are up to date")


@cli.command("test")
@NAMES
@PRESET
@click.pass_obj
def test_command(project: Project, names: tuple[str, ...], preset: str) -> None:
    """Run nbval over copies of the chapters; the reports are in _build/reports.

    Exit status 3: a verdict changed; 1: a chapter did not run to its end.
    """
    from companion.build.validate import test

    test(project, preset, _known(project, names), click.echo)


@cli.command("validate")
@NAMES
@click.pass_obj
def validate_command(project: Project, names: tuple[str, ...]) -> None:
    """Execute every chapter at the papers' scale and compare with what is committed.

    Exit status 3: a verdict changed; 4: numbers did, beyond their tolerances; 1: a chapter did not run to its end.
    """
    from companion.build.validate import validate

    validate(project, _known(project, names), click.echo)
    click.echo("all verdicts and tables agree with the committed ones")


@cli.command("data")
def data_command() -> None:
    """Download the real data sets into scikit-learn's data folder, and count their records."""
    from companion.build.freshness import fetch

    fetch(click.echo)


@cli.command("lab", context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def lab_command(project: Project, options: tuple[str, ...]) -> None:
    """Start JupyterLab on the book, with its own options."""
    if os.geteuid() == 0 and "--allow-root" not in options:
        raise RequestError("JupyterLab refuses to run as root; to allow it: make lab P=--allow-root")
    os.environ["COSTOFPRIVACY_CACHE"] = str(project.cache.resolve())
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", f"--notebook-dir={project.book}", *options])


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)
    try:
        cli.main(
            spread(sys.argv[1:] if arguments is None else arguments),
            prog_name="python -m companion",
            standalone_mode=False,
        )
    except Interrupted as error:
        return _fail(str(error), error.status, prefix="")
    except BookError as error:
        return _fail(str(error), error.status)
    except click.ClickException as error:
        return _fail(error.format_message(), 2)
    except OSError as error:
        return _fail(system_error(error), BookError.status)
    except (click.Abort, KeyboardInterrupt):
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it would tell of the cell that was cut off
        return _fail(INTERRUPTED, Interrupted.status, prefix="")
    return 0


def _interrupt(number: int, frame: object) -> None:
    """Treat a signal to end as an interrupt from the keyboard, once: the kernel is being shut down."""
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _fail(text: str, status: int, prefix: str = "error: ") -> int:
    click.echo(prefix + " ".join(text.split()), err=True)
    return status


def _warn(line: str) -> None:
    click.echo(f"warning: {line}", err=True)


def _answers(cluster: str, patience: float = 10.0) -> None:
    if not cluster:
        return
    from companion.running.cluster import ClusterError, connected

    try:
        with connected(cluster, patience):
            return
    except ClusterError as error:
        raise RequestError(f"CLUSTER must be the address of a Dask scheduler, got {cluster!r}: {error}") from error


def _known(project: Project, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(check_name(project, name) for name in names if name)


def parameters_of(project: Project, name: str) -> str:
    """The parameters of a chapter: name, value in the book, meaning, unit and range, for a terminal."""
    if is_plain(project, check_name(project, name)):
        notebook = notebooks.read(place(project.book, name).notebook)
        given = ", ".join(f"{key} = {_typed(value)}" for key, value in notebooks.defaults(notebook).items())
        return f"{name} has {f'the parameters {given}' if given else 'no parameters'}: {notebooks.title(notebook)}."
    lines = [f"Parameters of {name}: {question(module_name(project, name))}", ""]
    for row in rows(parameters.experiment_class(project, name)):
        lines.append(f"  {row.name} = {_typed(row.default)}{f' {row.unit}' if row.unit else ''}")
        meaning = f"{row.meaning} Must be {row.range}."
        lines.append(textwrap.fill(meaning, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6))
    return "\n".join([*lines, "  workers = -1", " " * 6 + of_chapters("symbols").BY_NAME["workers"].meaning])


def _typed(value: Any) -> str:
    return "[" + ", ".join(map(_typed, value)) + "]" if isinstance(value, tuple) else f"{value}"


def announce(project: Project, name: str, points: Sequence[Mapping[str, Any]], say: Say) -> None:
    """Say how long a chapter takes, once for each of some points, at the papers' parameters."""
    took = stamps.time_in_words(project.book, name)
    if points and took and parameters.experiment_of(project, name, points[0]):
        each = f"each of {len(points)} points of {name}" if len(points) > 1 else name
        say(f"{each} takes about {took} of one core with the papers' parameters, less if trials are already saved")
