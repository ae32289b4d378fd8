"""What several modules of these tests solve: a model, schedules, times."""

import numpy as np

from costofprivacy.dpgd import spectrum
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial

SCHEDULES = [Constant(3.0), Polynomial(3.0, 0.5), Polynomial(3.0, 1.0), Polynomial(3.0, 4.0), Harmonic(2.0, 0.1)]


TIMES = np.linspace(0, 1, 11)


def uniform_model(d=100, label_noise=0.3):
    values = spectrum.uniform(d)
    return spectrum.RegressionModel(values, spectrum.projections(values), label_noise)


class Rising:
    def __call__(self, time):
        return 1.0 + np.asarray(time, dtype=float)

    def squared_decrease(self, time):
        return -2 * (1.0 + np.asarray(time, dtype=float))
