"""Verdicts on displays: resolvents and Itô's formula in Section 4 and Appendix C of arXiv:2505.16329v2."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.deterministic_equivalent.verdicts_equations import (
    EXACT,
    READINGS,
    identity,
    ratios,
    reads,
    sampling,
    sampling_numbers,
)
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, pick, select
from costofprivacy.judging.vocabulary import CONSISTENT

RESOLVENTS = r"$\partial_t\hat q = -\bar\eta\mu_c(\|V\|_2^2 + 2z\hat q) + \dots$"


@judges("dpgd/equation-4.17")
def equation_417(tables: Tables) -> Finding:
    """The drift of the resolvents along Algorithm 1."""
    return _resolvent_drift(tables, r"$-\bar\eta\mu_c(\|u\|_2^2 + 2zq_z(u))$ in the first term.")


@judges("dpgd/equation-c.42")
def equation_c42(tables: Tables) -> Finding:
    """The same drift along the diffusion, and (C.44), which is made of it."""
    return _resolvent_drift(tables, r"$-\bar\eta\mu_c(\|V\|_2^2 + 2zq)$ in (C.42), the same with $\hat q$ in (C.44).")


def _resolvent_drift(tables: Tables, correction: str) -> Finding:
    """v'Σ(Σ − z)⁻¹v against ‖v‖² + z q_z(v), and with 2 z q_z(v)."""
    printed, mended = (identity(tables, f"(4.17), drift with {term}", EXACT) for term in ("z q", "2 z q"))
    numbers, change = (printed, mended), r"A definition of $q_z$ without its $\frac12$."
    off = compact(printed.value)
    if printed.value <= EXACT:
        return Finding(Verdict.HOLDS, "The printed drift is that of the resolvents.", numbers, would_change=change)
    if mended.value <= EXACT:
        headline = f"The drift of the resolvents lacks a factor in one term; as printed it is off by {off} of itself."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, change)
    headline = f"The drift of the resolvents is off by {off} of itself, and its missing factor does not mend it."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("dpgd/equation-4.20")
def equation_420(tables: Tables) -> Finding:
    """Squared norm and risk as contour integrals."""
    return _contours(tables)


@judges("dpgd/equation-c.43")
def equation_c43(tables: Tables) -> Finding:
    """The same along the diffusion."""
    return _contours(tables)


def _contours(tables: Tables) -> Finding:
    numbers = ratios(tables, "(4.20), (C.43)")
    change = "A circle run through clockwise, which changes both signs."
    if reads(tables, "(4.20), (C.43)", "printed"):
        headline = "The contour integrals return the squared norm and the risk."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    worst = max(numbers, key=lambda number: abs(number.value - 1))
    headline = f"A contour integral is {compact(worst.value)} times what it stands for."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("dpgd/equation-4.21")
def equation_421(tables: Tables) -> Finding:
    """Does the sum over the eigenvalues solve the equation of (4.17)?"""
    return _solution(tables)


@judges("dpgd/equation-c.46")
def equation_c46(tables: Tables) -> Finding:
    """Does the same sum solve (C.44)?"""
    return _solution(tables)


def _solution(tables: Tables) -> Finding:
    headlines = (
        "The given sum over the eigenvalues solves the printed equation.",
        "The given sum over the eigenvalues solves the equation once a missing factor is put in, and not as printed.",
        "The given sum over the eigenvalues solves neither the printed nor the mended equation.",
    )
    change = r"A definition of $\hat q$ without its $\frac12$."
    return _display(tables, "(4.21), (C.46)", headlines, RESOLVENTS, change)


@judges("dpgd/equation-c.9")
def equation_c9(tables: Tables) -> Finding:
    """Itô's formula on (4.14) for a quadratic."""
    return _from_the_diffusion(tables)


@judges("dpgd/equation-c.27")
def equation_c27(tables: Tables) -> Finding:
    """The same again."""
    return _from_the_diffusion(tables)


def _from_the_diffusion(tables: Tables) -> Finding:
    descent = pick(tables["displays"], display="(C.9), (C.27)", term="descent", reading="printed")
    ratio = descent["value"] / descent["derived"]
    headlines = (
        "It follows from the printed diffusion.",
        f"It follows from the diffusion with half its drift; with all of it the descent is {ratio:.2f} of Itô's.",
        "It follows from neither the printed drift of the diffusion nor half of it.",
    )
    correction = r"The equation that it starts from: $d\Theta_t = -\bar\eta\mu_c\nabla\mathcal P\,dt + \dots$"
    return _display(tables, "(C.9), (C.27)", headlines, correction, "A diffusion with the printed drift that gives it.")


@judges("dpgd/equation-c.29")
def equation_c29(tables: Tables) -> Finding:
    """Itô's formula on (4.14) for log(1 + ‖V‖²)."""
    wrong = select(tables["displays"], display="(C.29), (C.30)", reading="printed")
    off = (wrong["value"] / wrong["derived"] - 1).abs() > EXACT
    headlines = (
        "Every term is what Itô's formula gives.",
        f"As printed, {off.sum()} of {len(off)} terms are not what Itô's formula gives; once mended, all are.",
        "A term differs from Itô's formula even when mended.",
    )
    correction = (
        r"With $s = \|V\|^2$: $-\frac{2\bar\eta\mu_c}{1+s}\nabla\mathcal P^\top V$, "
        r"$\frac{2\bar\eta^2\nu_c\mathcal P}{n(1+s)^2}\mathrm{tr}\,\Sigma(I(1+s) - 2V\otimes V)$, "
        r"$\frac{4d}{n^2}c^2\tilde\sigma^2\frac{d(1+s) - 2s}{(1+s)^2}$; "
        r"in (C.30) $\frac{2}{1+s}\langle V,\cdot\rangle$."
    )
    return _display(tables, "(C.29), (C.30)", headlines, correction, "A term as printed that Itô's formula gives.")


def _display(tables: Tables, name: str, headlines: tuple[str, str, str], correction: str, change: str) -> Finding:
    """Whether a display says what it should: as printed, once it is mended, or neither."""
    numbers = ratios(tables, name)
    if reads(tables, name, "printed"):
        return Finding(Verdict.HOLDS, headlines[0], numbers, would_change=change)
    if reads(tables, name, "corrected"):
        return Finding(Verdict.CORRECTED, headlines[1], numbers, Consequence.NONE, correction, change)
    return Finding(Verdict.FAILS, headlines[2], numbers, Consequence.CONCLUSION, would_change=change)


@judges("dpgd/equation-c.5")
def equation_c5(tables: Tables) -> Finding:
    """Is the cap 2/‖x‖² or 2/‖x‖?"""
    caps = tables["caps"]
    printed, corrected = (select(caps, reading=reading)["stretch"].max() for reading in READINGS)
    numbers = tuple(
        Number(f"largest stretch of a step, {reading} cap", value, None, 1.0, "caps", f"reading = {reading}")
        for reading, value in zip(READINGS, (printed, corrected))
    )
    change = "Features that keep every step from stretching distances under the printed cap."
    if printed <= 1 + EXACT:
        headline = "With the printed cap no step stretches a distance."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if corrected <= 1 + EXACT:
        headline = f"The cap lacks a square; as printed a step can stretch distances {printed:.0f}-fold."
        correction = r"$\bar\eta_k = \min(\eta_k, 2/\|x_k\|_2^2)$, as in Algorithm 1."
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, change)
    headline = f"Even with the square a step stretches distances {compact(corrected)}-fold."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


@judges("dpgd/equation-c.8")
def equation_c8(tables: Tables) -> Finding:
    """The Hessian's error, small if the sampling term that it subtracts is the right one, and the product term."""
    _, deviations = sampling(tables)
    terms = {  # as printed, and mended
        "the Hessian's error": [deviation <= CONSISTENT for deviation in deviations],
        "the product of gradient and noise": [reads(tables, "(C.8)", reading) for reading in READINGS],
    }
    numbers = (*sampling_numbers(tables), *ratios(tables, "(C.8)"))
    change = "A product term without the factor, or a mean of steps with half of the sampling term."
    if max(deviations) <= CONSISTENT:
        headline = "Too few trials to tell a term from its half."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    amiss = [name for name, (printed, _) in terms.items() if not printed]
    if not amiss:
        headline = "The Hessian's error and the product term are as printed."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if all(terms[name][1] for name in amiss):
        headline = f"A factor is missing in {' and in '.join(amiss)}."
        correction = (
            r"$\bar\eta_k^2\nu_c\mathcal P\,\mathrm{tr}(\Sigma\nabla^2q)$ in $\Delta\mathcal E^{\text{Hess}}$, and "
            r"the product term $-2c\sqrt d\,\sigma_k\bar\eta_k\langle b_k,\nabla^2q\,\bar g_k\rangle$."
        )
        return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NONE, correction, change)
    headline = "A term differs from what is printed and from what mends it."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
