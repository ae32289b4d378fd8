"""Which guarantee does each release give, and does a measurement of its privacy agree?"""

from collections.abc import Sequence

import pandas as pd
from IPython.display import Markdown

from chapters.privacy.every_mechanism import software
from chapters.privacy.every_mechanism.measure import OWN, PILOT
from companion.judging.prose import Sentences, compact, listed, percent, plain
from companion.judging.tables import Tables, pick, select

ATTAINED = "●"  # marks a release whose sensitivity the audit's neighbours attain


def shares(releases: pd.DataFrame) -> pd.DataFrame:
    """Lower bounds over the claims: μ where the claim is Gaussian, else ε; on worst neighbours and hostile records."""
    gaussian = releases["gaussian"].astype(bool)
    claim = releases["claimed_mu"].where(gaussian, releases["audited_claim"])
    found = {"release": releases["release"]}
    for name, kind in (("worst", "{}_found"), ("hostile", "hostile_{}")):
        bound = releases[kind.format("mu")].where(gaussian, releases[kind.format("epsilon")])
        found[name] = bound / claim
    return pd.DataFrame(found).assign(deficit=releases["deficit"], attained=releases["attained"])


def caption_releases(tables: Tables) -> str:
    """What the audits found over what is claimed, and the smallest deficit of the noise that they detect."""
    releases = tables["releases"]
    table = shares(releases)
    attained = table[table["attained"].astype(bool)]
    most, found = table[["worst", "hostile"]].max(axis=None), percent(float(attained["deficit"].max()))
    head = "No audit's bound exceeds" if most <= 1 else "An audit's bound exceeds"
    return (
        f"**{head} what the release claims.** First panel: the lower bound of the audit over what is claimed, at most "
        f"{compact(float(most))}. Beyond the dashed line a guarantee would be broken. Second panel: the smallest tried "
        "share by which noise that is too small is detected; no bar: none was. A shorter bar is a sharper audit. "
        f"Where the sensitivity is attained ({ATTAINED}), it is {found} or less; the dashed line is at 10 %. All "
        f"bounds in the first panel hold together with confidence {float(releases['confidence'].iloc[0]):g}."
    )


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
    rows = []
    for row, share in zip(releases.to_dict("records"), shares(releases)["worst"], strict=True):
        exact = bool(row["gaussian"])
        marks = f"{ATTAINED * bool(row['attained'])}{TRANSCRIBED * (row['run'] != OWN)}"
        kind = "\\mu" if exact else "\\varepsilon"
        cells = [
            # a Markdown link would be a cross-reference
            f"<a href='{proof(row['module'])}'>{row['release']}</a>{f' {marks}' if marks else ''}",
            SENSITIVITY.get(row["release"], NOTHING),
            f"${kind}={plain(row['claimed_mu'])}$" if exact else f"${kind}\\le{plain(row['audited_claim'])}$",
            f"${kind}\\ge{plain(row['mu_found' if exact else 'epsilon_found'])}$ ({_whole(percent(share))})",
            plain(row["hostile_epsilon"]),
            _deficit(row["deficit"]),
        ]
        rows.append(cells)
    return _table(("release", "sensitivity", "guarantee", "audit", "hostile", "least fault"), rows)


def _whole(words: str) -> str:
    return words.replace(" ", "\u202f")


def _table(head: Sequence[str], rows: list[list[str]]) -> Markdown:
    return Markdown("\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)))


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


def software_audits(tables: Tables) -> pd.DataFrame:
    """Every audit of other people's software: the runs of the extra environments, and the transcriptions."""
    parts = [tables[name] for name in ("opacus-runs", "diffprivlib-runs", "opendp-runs", "transcribed")]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def refuted(audits: pd.DataFrame) -> pd.Series:
    """Whether an audit's bound exceeds the ε that is claimed for a record that is replaced."""
    return audits["epsilon_found"].astype(float) > audits["claim"].astype(float)


def show_software(tables: Tables) -> Markdown:
    """One row for each function and pair of neighbours."""
    audits, rows = software_audits(tables), []
    transcribed = set(tables["transcribed"]["software"])
    for row, broken in zip(audits.to_dict("records"), refuted(audits), strict=True):
        mark = f" {TRANSCRIBED}" if row["software"] in transcribed else ""
        cells = [PACKAGES[row["software"]] + mark, row["case"], OWN_RELATION.get(row["software"], "replace a record")]
        own, claim, delta, found = (
            plain(float(row[name])) for name in ("own_claim", "claim", "audited_delta", "epsilon_found")
        )
        there = "" if float(row["audited_delta"]) == 0 else f" at δ = {delta}"
        cells += [own, f"{claim}{there}", f"$\\varepsilon\\ge{found}$"]
        rows.append([*cells, "**yes**" if broken else "no"])
    head = ("package", "case", "own relation", "own $\\varepsilon$", "$\\varepsilon$ here", "audit", "refuted")
    return _table(head, rows)


ALONE = "piloted objective perturbation"  # of `PrivateLinearRegression`, proved (ε, δ)-DP alone
FOUND = 0.1 + 1e-9  # a deficit that an audit has to find where the sensitivity is attained


def answer(tables: Tables) -> list[str]:
    """Whether a guarantee is broken, what the audits detect, and what a reader will see."""
    releases = tables["releases"]
    broken, attained = int(releases["refuted"].sum()), releases[releases["attained"].astype(bool)]
    reached = shares(attained)["worst"]
    alone = pick(shares(releases), release=ALONE)
    least = alone["deficit"]
    found = "no noise that is too small" if pd.isna(least) else f"only noise that is {100 * least:g} % too small"
    drawn = "" if select(releases, release=ALONE)["run"].item() == OWN else " of its transcription"
    kept = "No audit refutes a guarantee of this book." if not broken else f"Audits refute {broken} guarantees."
    return [
        f"We audited {len(releases)} releases at one setting. {kept}",
        f"In the {len(attained)} releases that attain their sensitivity ({ATTAINED}), the bounds reach "
        f"{percent(float(reached.min()))} or more of the claim, and noise that is "
        f"{100 * float(attained['deficit'].max()):g} % too small would be found.",
        f"{ALONE.capitalize()} is tested less sharply: the audit{drawn} proves {percent(alone['worst'])} "
        f"of the claim, and {found} would be found.",
    ]


def statements(tables: Tables) -> Sentences:
    """What the audits find, in sentences that are the same at every number of releases."""
    releases, transcribed = tables["releases"], tables["transcribed"]
    sharp = releases.loc[releases["attained"].astype(bool), "deficit"] <= FOUND

    def broken(package: str, case: str) -> bool:
        return bool(refuted(select(transcribed, software=package, case=case)).any())

    checks = (
        (
            not releases["refuted"].astype(bool).any(),
            ("No audit refutes a guarantee of this book.", "An audit refutes a guarantee of this book."),
        ),
        (
            sharp.all(),
            (
                "Where the sensitivity is attained, noise that is 10 % too small is detected.",
                "Somewhere noise that is 10 % too small is not detected though the sensitivity is attained.",
            ),
        ),
        (
            not (releases["clip"] == "not detected").any(),
            ("Every forgotten clip is detected.", "A forgotten clip is not detected."),
        ),
        (
            not (releases["scaling"] == "not detected").any(),
            ("Scaling by the data is always detected.", "Scaling by the data is not always detected."),
        ),
        (
            broken("DPrivStats", "a record is replaced"),
            (
                "DPrivStats does not protect a whole record at the stated budget.",
                "The audit does not refute DPrivStats for a whole record.",
            ),
        ),
        (
            broken("DPrivStats", "a response is replaced"),
            (
                "DPrivStats does not protect a response.",
                "The audit does not refute DPrivStats for a response, where the design is public.",
            ),
        ),
        (
            broken("DPpack", "objective perturbation"),
            ("An audit refutes DPpack.", "The audit does not refute DPpack."),
        ),
    )
    return Sentences(tuple(yes if holds else no for holds, (yes, no) in checks))


def origin(tables: Tables) -> Markdown:
    """Where the runs of the extra environments come from."""
    told = [f"*{name}*: {software.record(name).origin(tables[f'{name}-runs'])}" for name in software.CASES]
    return Markdown("\n\n".join(told))


def read_software(tables: Tables) -> Markdown:
    """Which guarantees of other software the audits refute."""
    audits = software_audits(tables)
    broken = audits[refuted(audits)]
    names = [f"{row['software']} ({row['case']})" for row in broken.to_dict("records")]
    return Markdown(f"The audits refute {len(broken)} of {len(audits)}: {listed(names)}.")
