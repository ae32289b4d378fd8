"""The table of every release, for readers."""

from collections.abc import Iterator

import pandas as pd
from IPython.display import Markdown

from chapters.privacy.every_mechanism.exact import PILOT
from chapters.privacy.every_mechanism.figures import ATTAINED, shares
from companion.judging.prose import compact, listed, percent, plain
from companion.judging.tables import Tables

SENSITIVITY = {  # of what is released, for replacing one record or prompt; the proof stands in the module
    "Gaussian mechanism": "$\\Delta$, as stated",
    "DP-GD, last iterate": "$2\\eta_k C$ in step $k$",
    "NoisyHead": "$2\\eta_0 G(C+RG)/N$ a step",
    "DP-ridge": "at most $2CG(1+G/2\\sqrt\\lambda)/(\\lambda N)$",
    "per-prompt clipped head": "$2c/N$ a step",
    "whitened head": "$\\sqrt2\\,C/N$ a moment, $2c/N$ a step",
    "clipped descent, all records": "$2C$ a step",
    "guarded descent, two stages": "$2C$ a step",
    "DP-SGD, Poisson samples": "$2C$ a step, sampled",
    "descent with a shrinking clip": "$2C_t$ in step $t$",
    "output perturbation": "$2(C+\\gamma)/\\Lambda$",
    "objective perturbation": "$2C$, and $\\ln(1+B^2/\\Lambda)$",
    "AdaSSP": "$B^2$, $\\sqrt2\\,B^2$ and $2BY$",
    "boosted AdaSSP": "$B^2$, $\\sqrt2\\,B^2$, and $2C$ a round",
    "TukeyEM": "1, of a depth",
    "private quantile": "1, of a rank",
    "DP-AMBSSGD, adaptive clip": "1 of a rank, $2C_t$ a step",
    "robust clipping": "1 of a rank, $2\\Theta\\varphi_t$ a step",
    "DP-FTRL, one pass": "$2K$ times the longest column",
    "descent with checkpoints": "$2C$ a step",
    "Gaussian mixing": "$B^2+c^2Y^2$, over the least eigenvalue",
    "iterative Hessian mixing": "the same with $Y=0$, and $2C_t$ a round",
    "piloted objective perturbation": "$2C$ twice, and $\\ln(1+B^2/\\Lambda)$",
}
NOTHING = "–"
HEAD = ("release", "sensitivity", "guarantee", "audit", "hostile", "least fault")
RUNS = ("the library's code",)
TRANSCRIBED = "†"  # marks a release that a transcription draws


def proof(module: str) -> str:
    """Where the guarantee of a module is proved: its place in the reference."""
    room = module.partition(".")[0]
    return f"../reference/{room}.html#module-costofprivacy.{module}"


def read_table(releases: pd.DataFrame) -> Markdown:
    """The numbers that all rows have in common, and which claims stand at another δ."""
    one = releases.iloc[0]
    other = releases[releases["audited_delta"] != one["delta"]]
    apart = listed(f"*{row['release']}* at δ = {plain(row['audited_delta'])}" for row in other.to_dict("records"))
    return Markdown(
        f"At $\\delta$ = {compact(one['delta'])}, every release has $\\varepsilon={plain(one['claimed_epsilon'])}$."
        + (f" Where the audit is at another $\\delta$, the table has the guarantee there: {apart}." if apart else "")
    )


def show_table(releases: pd.DataFrame) -> Markdown:
    """One row for each release."""
    lines = [_line(HEAD), _line(["---"] * len(HEAD)), *map(_line, _rows(releases))]
    return Markdown("\n".join(lines))


def _rows(releases: pd.DataFrame) -> Iterator[list[str]]:
    reached = shares(releases)["worst"]
    for row, share in zip(releases.to_dict("records"), reached, strict=True):
        exact = bool(row["gaussian"])
        marks = f"{ATTAINED * bool(row['attained'])}{TRANSCRIBED * (row['run'] not in RUNS)}"
        kind = "\\mu" if exact else "\\varepsilon"
        yield [
            # a Markdown link would be a cross-reference
            f"<a href='{proof(row['module'])}'>{row['release']}</a>{f' {marks}' if marks else ''}",
            SENSITIVITY.get(row["release"], NOTHING),
            f"${kind}={plain(row['claimed_mu'])}$" if exact else f"${kind}\\le{plain(row['audited_claim'])}$",
            f"${kind}\\ge{plain(row['mu_found' if exact else 'epsilon_found'])}$ ({_whole(percent(share))})",
            plain(row["hostile_epsilon"]),
            _deficit(row["deficit"]),
        ]


def _whole(words: str) -> str:
    """Words on one line."""
    return words.replace(" ", "\u202f")


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def show_faults(tables: Tables) -> pd.DataFrame:
    """Each gross fault: the bounds with which it was found."""
    audits = tables["audits"]
    gross = audits[audits["tried"].isin(["clip forgotten", "scaled by the data"])]
    told = {
        "release": gross["release"],
        "fault": gross["tried"],
        "$\\varepsilon\\ge$": gross["epsilon"].map(plain),
        "$\\mu\\ge$": gross["mu"].map(plain),
        "breaks the guarantee": gross["refuted"].map({True: "yes", False: "no"}),
    }
    return pd.DataFrame(told).set_index("release")


def show_exact(tables: Tables) -> pd.DataFrame:
    """What each release spends by its law, and the least fault that this finds, beside the one that counts find."""
    exact, counted = tables["exact"], tables["releases"].set_index("release")["deficit"]
    alone = exact["seen"] == PILOT  # the counts are of both stages
    told = {
        "release": exact["release"],
        "what is looked at": exact["seen"],
        "spent over claimed": exact["spent"].map(plain)
        + " of $"
        + exact["compared"].map({"μ": "\\mu", "δ": "\\delta"})
        + "$",
        "least fault": exact["deficit"].map(_deficit),
        "by counts": exact["release"].map(counted).mask(alone).map(_deficit),
    }
    return pd.DataFrame(told).set_index("release")


def _deficit(share: float) -> str:
    return NOTHING if pd.isna(share) else _whole(f"{100 * share:g} %")


PACKAGES = {  # what is audited, and where it is described
    "Opacus": "[Opacus](https://opacus.ai)",
    "diffprivlib": "[diffprivlib](https://github.com/IBM/differential-privacy-library), `LinearRegression`",
    "OpenDP": "[OpenDP](https://docs.opendp.org), `LinearRegression`",
    "DPpack": "[DPpack](https://cran.r-project.org/package=DPpack), `LinearRegressionDP`",
    "DPrivStats": "[DPrivStats](https://cran.r-project.org/package=DPrivStats), `dp_lm`",
}
OWN_RELATION = {"Opacus": "add or remove a record", "DPrivStats": "replace a response; by default the design is public"}
NOT_RUN = "not measured here"


def software(tables: Tables) -> pd.DataFrame:
    """Every audit of other people's software: the runs of the extra environments, and the transcriptions."""
    parts = [tables[name] for name in ("opacus-runs", "diffprivlib-runs", "opendp-runs", "transcribed")]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def refuted(audits: pd.DataFrame) -> pd.Series:
    """Whether an audit's bound exceeds the ε that is claimed for a record that is replaced."""
    return audits["epsilon_found"].astype(float) > audits["claim"].astype(float)


def show_software(tables: Tables) -> Markdown:
    """One row for each function and pair of neighbours."""
    audits = software(tables)
    head = ("package", "case", "own relation", "own $\\varepsilon$", "$\\varepsilon$ here", "audit", "refuted")
    transcribed = set(tables["transcribed"]["software"])
    lines = [_line(head), _line(["---"] * len(head))]
    for row, broken in zip(audits.to_dict("records"), refuted(audits), strict=True):
        mark = f" {TRANSCRIBED}" if row["software"] in transcribed else ""
        cells = [PACKAGES[row["software"]] + mark, row["case"], OWN_RELATION.get(row["software"], "replace a record")]
        own, claim, delta, found = (
            plain(float(row[name])) for name in ("own_claim", "claim", "audited_delta", "epsilon_found")
        )
        there = "" if float(row["audited_delta"]) == 0 else f" at δ = {delta}"
        cells += [own, f"{claim}{there}", f"$\\varepsilon\\ge{found}$"]
        lines.append(_line([*cells, "**yes**" if broken else "no"]))
    return Markdown("\n".join(lines))
