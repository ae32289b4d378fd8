"""Verdicts on displays: resolvents and Itô's formula in Section 4 and Appendix C of arXiv:2505.16329v2."""

from collections.abc import Mapping
from typing import Any

from chapters.dpgd.deterministic_equivalent.verdicts_equations import (
    EXACT,
    READINGS,
    identity,
    ratios,
    sampling,
    sampling_numbers,
    says,
)
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, pick, select
from companion.judging.vocabulary import CONSISTENT


@judges("dpgd/equation-4.17")
def equation_417(tables: Tables) -> Ruling:
    """The drift of the resolvents along Algorithm 1."""
    return _resolvent_drift(tables)


@judges("dpgd/equation-c.42")
def equation_c42(tables: Tables) -> Ruling:
    """The same drift along the diffusion, and (C.44), which is made of it."""
    return _resolvent_drift(tables)


def _resolvent_drift(tables: Tables) -> Ruling:
    """v'Σ(Σ − z)⁻¹v against ‖v‖² + z q_z(v), and with 2 z q_z(v)."""
    printed, corrected = (
        identity(tables, f"(4.17), drift with {term}", EXACT, f"relative error of the drift with {term}, {reading}")
        for term, reading in zip(("z q", "2 z q"), READINGS)
    )
    verdict = reads(printed=printed.value <= EXACT, corrected=corrected.value <= EXACT)
    return Ruling(verdict, (printed, corrected), {"off": printed.value})


@judges("dpgd/equation-4.20")
def equation_420(tables: Tables) -> Ruling:
    """Squared norm and risk as contour integrals."""
    return _contours(tables)


@judges("dpgd/equation-c.43")
def equation_c43(tables: Tables) -> Ruling:
    """The same along the diffusion."""
    return _contours(tables)


def _contours(tables: Tables) -> Ruling:
    name = "(4.20), (C.43)"
    return Ruling(reads(printed=says(tables, name, "printed")), ratios(tables, name))


@judges("dpgd/equation-4.21")
def equation_421(tables: Tables) -> Ruling:
    """Does the sum over the eigenvalues solve the equation of (4.17)?"""
    return _display(tables, "(4.21), (C.46)")


@judges("dpgd/equation-c.46")
def equation_c46(tables: Tables) -> Ruling:
    """Does the same sum solve (C.44)?"""
    return _display(tables, "(4.21), (C.46)")


@judges("dpgd/equation-c.9")
def equation_c9(tables: Tables) -> Ruling:
    """Itô's formula on (4.14) for a quadratic."""
    return _from_the_diffusion(tables)


@judges("dpgd/equation-c.27")
def equation_c27(tables: Tables) -> Ruling:
    """The same again."""
    return _from_the_diffusion(tables)


def _from_the_diffusion(tables: Tables) -> Ruling:
    descent = pick(tables["displays"], display="(C.9), (C.27)", term="descent", reading="printed")
    return _display(tables, "(C.9), (C.27)", {"descent": descent["value"] / descent["derived"]})


@judges("dpgd/equation-c.29")
def equation_c29(tables: Tables) -> Ruling:
    """Itô's formula on (4.14) for log(1 + ‖V‖²)."""
    wrong = select(tables["displays"], display="(C.29), (C.30)", reading="printed")
    off = (wrong["value"] / wrong["derived"] - 1).abs() > EXACT
    return _display(tables, "(C.29), (C.30)", {"wrong": off.sum(), "terms": len(off)})


def _display(tables: Tables, name: str, quoted: Mapping[str, Any] | None = None) -> Ruling:
    """Whether a display says what it should: as printed, once it is corrected, or neither."""
    printed, corrected = (says(tables, name, reading) for reading in READINGS)
    return Ruling(reads(printed=printed, corrected=corrected), ratios(tables, name), quoted or {})


@judges("dpgd/equation-c.5")
def equation_c5(tables: Tables) -> Ruling:
    """Is the cap 2/‖x‖² or 2/‖x‖?"""
    stretches = {reading: select(tables["caps"], reading=reading)["stretch"].max() for reading in READINGS}
    named = {
        f"largest factor by which a step stretches distances, {reading} cap": (stretch, 1.0, f"reading = {reading}")
        for reading, stretch in stretches.items()
    }
    printed, corrected = (stretch <= 1 + EXACT for stretch in stretches.values())
    verdict = reads(printed=printed, corrected=corrected)
    return Ruling(verdict, numbers("caps", named), {"stretch": stretches["printed"]})


@judges("dpgd/equation-c.8")
def equation_c8(tables: Tables) -> Ruling:
    """The Hessian's error, small if the sampling term that it subtracts is the right one, and the product term."""
    deviations = sampling(tables)
    terms = {  # as printed, and as corrected
        "the Hessian's error": [deviation <= CONSISTENT for deviation in deviations],
        "the product of gradient and noise": [says(tables, "(C.8)", reading) for reading in READINGS],
    }
    amiss = [name for name, (printed, _) in terms.items() if not printed]
    hidden = max(deviations) <= CONSISTENT  # too few trials to tell a term from its half
    verdict = reads(printed=not amiss, corrected=all(terms[name][1] for name in amiss), decided=not hidden)
    return Ruling(verdict, (*sampling_numbers(tables), *ratios(tables, "(C.8)")), {"places": " and in ".join(amiss)})
