"""The book's table of symbols: what each paper writes, what the library calls it, what it means, in which unit.

One name a thing. A parameter of a chapter that stands here has its meaning from here, unless its declaration says
something more particular (`companion.declaration`).
"""

import inspect
from dataclasses import dataclass
from pathlib import Path

from costofprivacy import estimators

NONE = "–"


@dataclass(frozen=True)
class Symbol:
    """One thing, and its names.

    Args:
        name: ours. noisyhead, dpgd: what the papers write, as TeX; empty where a paper has none.
        meaning: one sentence. unit: of its values; empty for a pure number.
    """

    name: str
    noisyhead: str
    dpgd: str
    meaning: str
    unit: str = ""

    @property
    def tex(self) -> str:
        """What the papers write, one after the other where they differ."""
        return ", ".join(f"${text}$" for text in dict.fromkeys((self.noisyhead, self.dpgd)) if text)


SYMBOLS = (
    # Sizes
    Symbol("N", "N", "", "Number of training prompts.", "prompts"),
    Symbol("L", "L", "", "Number of labelled tokens in a prompt.", "tokens"),
    Symbol("D", "D", "", "Dimension of a feature in a prompt."),
    Symbol("n", "", "n", "Number of records, each used in one step.", "records"),
    Symbol("d", "", "d", "Dimension of a record's features."),
    Symbol("gamma", "", r"\gamma_n", "Aspect ratio d/n."),
    Symbol("T", "T", "", "Number of steps over the whole data.", "steps"),
    # Data
    Symbol("x", "x_i", "x_k", "Features of a token or record."),
    Symbol("y", "y_i", "y_k", "Response of a token or record."),
    Symbol("w", "w", r"\theta^*", "Coefficient vector behind the responses."),
    Symbol("covariance", "", r"\Sigma", "Covariance of the features, of trace d."),
    Symbol("eigenvalues", "", r"\lambda_i", "Eigenvalues of the covariance."),
    Symbol("phi", "", r"\phi", "Exponent of the spectrum's power law."),
    Symbol("psi", "", r"\psi", "Exponent of the target's power law."),
    Symbol("label_noise", r"\tau", r"\zeta", "Standard deviation of the label noise.", "units of y"),
    Symbol("response_variance", r"1 + \tau^2", r"2\mathcal{R}(0) + \zeta^2", "Variance of a response.", "units of y²"),
    # The head and the iterate
    Symbol("statistic", "Z", "", "What the head sees of a prompt: the mean of y x over its tokens, times the query."),
    Symbol("Gamma", r"\Gamma", "", "The one matrix of the reduced linear head."),
    Symbol("theta", "", r"\theta", "The coefficients that private descent releases."),
    Symbol("penalty", r"\lambda", "", "Ridge penalty."),
    # Privacy
    Symbol("epsilon", r"\varepsilon", r"\varepsilon", "Privacy budget ε of approximate differential privacy."),
    Symbol("delta", r"\delta", r"\delta", "Probability δ of approximate differential privacy."),
    Symbol("rho", "", r"\rho", "Privacy parameter of Gaussian differential privacy."),
    Symbol("sensitivity", r"\eta_0\sigma/N", r"2\eta_kC_{\mathrm{clip}}", "Largest change of a value by one record."),
    Symbol("noise_multiplier", r"s/\Delta", r"\sigma_k/\eta_k", "The noise's standard deviation over the sensitivity."),
    # Clipping and bounds
    Symbol("clip_norm", "C", r"C_{\mathrm{clip}}", "Bound at which a response, or a record's gradient, is clipped."),
    Symbol("clip", "", "c", "Clipping constant: the gradient is clipped at c times the square root of d."),
    Symbol("feature_bound", "G", "", "Radius of the ball onto which a statistic is projected."),
    Symbol("weight_bound", "R", "", "Radius of the ball onto which the weights are projected."),
    Symbol("failure", r"\kappa", "", "Failure probability κ behind the radii C, G and R."),
    Symbol("descent_reduction", "", r"\mu_c", "Share of the descent that clipping leaves."),
    Symbol("variance_reduction", "", r"\nu_c", "Share of the gradient's second moment that clipping leaves."),
    # Descent
    Symbol("learning_rate", r"\eta_0", r"\tilde\eta(0)", "Learning rate at the start."),
    Symbol("schedule", "", r"\tilde\eta(t)", "Learning rate along the run, as a function of time."),
    Symbol("alpha", "", r"\alpha", "Exponent of the polynomial schedule."),
    Symbol("initial", r"\Gamma^0", r"\theta_0", "Where descent starts."),
    # Risks
    Symbol("excess_risk", "", r"\mathcal{R}", "Risk above that of the best predictor.", "units of y²"),
    Symbol("test_risk", "", r"\mathcal{P}", "Half the mean squared error on a fresh record.", "units of y²"),
    Symbol("test_error", r"L_{\mathrm{test}}", "", "Mean squared error on a fresh prompt.", "units of y²"),
    # How an experiment is run
    Symbol("trials", "", "", "Independent repetitions."),
    Symbol("test_prompts", "", "", "Fresh prompts in each trial.", "prompts"),
    Symbol("pairs", "", "", "Random pairs that are tried."),
    Symbol("seed", "", "", "Root of all random streams."),
    Symbol("workers", "", "", "Worker processes, -1 for all cores; changes no number."),
)
BY_NAME = {symbol.name: symbol for symbol in SYMBOLS}


def notation(book: Path) -> str:
    """The whole table in Markdown, for the page on notation; the same for every book folder."""
    lines = ["| NoisyHead | DP-GD | name in the library | meaning | unit |", "|---|---|---|---|---|"]
    for s in SYMBOLS:
        papers = (f"${tex}$" if tex else NONE for tex in (s.noisyhead, s.dpgd))
        lines.append(f"| {' | '.join((*papers, f'`{s.name}`', s.meaning, s.unit or NONE))} |")
    return "\n".join(lines) + "\n"


def names(book: Path) -> str:
    """What the estimators make public, as a table of links in Markdown; the same for every book folder."""
    lines = ["| name | what it is or does |", "|---|---|"]
    for name in sorted(estimators.__all__, key=str.lower):
        one = getattr(estimators, name)
        summary = " ".join(str(inspect.getdoc(one)).split("\n\n")[0].split()).replace("|", "\\|")
        lines.append(f"| {{py:obj}}`{name} <{one.__module__}.{one.__qualname__}>` | {summary} |")
    return "\n".join(lines) + "\n"
