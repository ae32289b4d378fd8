"""A learning rate schedule and the noise that (4.2) of DP-GD adds for it, step by step."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.ticker import MultipleLocator

from companion.judging.prose import compact, percent
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.dpgd import schedule
from costofprivacy.dpgd.schedule import Constant, Harmonic, Schedule

RECORDS, DIMENSION = 1000, 100
RHO, CLIP = 1.0, 1.0
LENGTH = 4.0  # the integral of the rate over the pass, the same for both
WORDS = "constant: none before the last step", "harmonic: some in every step"
PLACES = (0.03, 0.9), (0.03, 0.25)  # of these words, in shares of the panel
OFFSET = 0.1  # τ of the harmonic schedule


def pair() -> dict[str, Schedule]:
    """Two schedules whose steps have the same total length."""
    return {"constant": Constant(LENGTH), "harmonic": Harmonic(LENGTH / np.log1p(1 / OFFSET), OFFSET)}


def course(of: Schedule) -> dict[str, np.ndarray]:
    """By step: t = k/n, the rate η̃(t), and the noise of (4.2) of arXiv:2505.16329v2 with C_clip = c√d of (4.3)."""
    rates = schedule.learning_rates(of, RECORDS)
    noise = 2 * CLIP * np.sqrt(DIMENSION) * schedule.noise_multipliers(rates, RHO)
    return {"times": np.arange(1, RECORDS + 1) / RECORDS, "rates": RECORDS * rates, "noise": noise}


def plate() -> Plate:
    """Above: learning rates. Below: the noise of each step."""
    courses = {name: course(of) for name, of in pair().items()}
    constant, harmonic = courses["constant"], courses["harmonic"]
    with figures.style():
        figure, (above, below) = plt.subplots(2, 1, figsize=(6.6, 5.0), sharex=True)
        for (name, one), look in zip(courses.items(), figures.looks(courses).values(), strict=True):
            noisy = one["noise"] > 0
            above.plot(one["times"], one["rates"], color=look["color"], label=name)
            below.plot(one["times"][noisy][:-1], one["noise"][noisy][:-1], color=look["color"])
            below.plot(one["times"][-1:], one["noise"][-1:], look["marker"], color=look["color"], ms=7, clip_on=False)
        low = float(harmonic["noise"][:-1].min()) / 3
        below.vlines(1, low, constant["noise"][-1], color=figures.COLOURS[0], linestyle=":", linewidth=1.2)
        above.set(ylabel="learning rate $\\tilde\\eta(t)$", ylim=(0, None), title="the rate")
        above.yaxis.set_major_locator(MultipleLocator(5))
        below.set(ylabel="noise, standard deviation", xlabel="$t = k/n$ (share of the records seen)", yscale="log")
        below.set(ylim=(low, 2 * constant["noise"][-1]), xlim=(0, 1), title="the noise that it needs")
        figures.end_labels(above)
        for (name, one), words, place in zip(courses.items(), WORDS, PLACES, strict=True):
            ink = tuple(figures.INK * light for light in to_rgb(figures.looks(courses)[name]["color"]))
            below.text(*place, words, transform=below.transAxes, color=ink)
            end = (1.0, float(one["noise"][-1]))
            below.annotate(
                f"{name},\nlast step", end, (8, 0), textcoords="offset points", color=ink, va="center", fontsize=9
            )
    less = harmonic["noise"][-1] / constant["noise"][-1]
    return Plate(
        figure,
        f"**Noise is due where the rate falls.** **Top**: two learning rates whose steps have the same total "
        f"length. **Bottom**: the standard deviation of the noise that Algorithm 1 adds to each coordinate, from "
        f"(4.2), at $n = {RECORDS}$, $d = {DIMENSION}$, $\\rho = {RHO:g}$ and $c = {CLIP:g}$. A constant rate "
        f"falls only at the end, and no later step reduces that noise. The harmonic rate's last step adds "
        f"{percent(less)} of this standard deviation; later steps shrink its earlier noise. No sampling error.",
        f"The rate against t from 0 to 1: constant at {compact(constant['rates'][0])}; harmonic from "
        f"{compact(harmonic['rates'][0])} to {compact(harmonic['rates'][-1])}. The noise's standard deviation: "
        f"constant 0 before the last step and {compact(constant['noise'][-1])} in it; harmonic from "
        f"{compact(harmonic['noise'][0])} to {compact(harmonic['noise'][-2])}, and {compact(harmonic['noise'][-1])} in "
        "the last step.",
    )
