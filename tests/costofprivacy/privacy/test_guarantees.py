"""Every public function that sees private records says what it guarantees, or is known to be no part of a release."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType

from costofprivacy import dpgd, noisyhead, rivals

# What arguments are called that records, or sums over them, come in.
PRIVATE = {"x", "y", "data", "prompts", "raw", "moment", "solutions", "square", "vectors"}
PRIVATE |= {"batches", "gradient", "noise", "read"}
ACCOUNTS = {  # no records, but a sensitivity or a noise that a guarantee rests on
    "dpgd.update.step_sensitivities",
    "noisyhead.covariance_head.noise_std",
    "noisyhead.per_prompt.sensitivity",
    "noisyhead.per_prompt.noise_std",
}
WITHOUT_PRIVACY = {  # solutions and answers that no noise protects: nothing of them may leave
    "dpgd.descent.descend_samples",
    "dpgd.families.descend_grid",  # for measurements: its last bits depend on which features all records lack
    "dpgd.update.simulate",
    "noisyhead.attack.pretrain_each",
    "noisyhead.head.bilinear_terms",
    "noisyhead.dynamics.simulate",
    "noisyhead.pretraining.descent_path",
    "noisyhead.pretraining.gradient_descent",
    "noisyhead.private_ridge.components",
    "noisyhead.private_ridge.simulate",
    "noisyhead.ridge.ridge",
    "noisyhead.softmax.attend",
    "noisyhead.softmax.best_scale",
    "noisyhead.softmax.fit",
    "noisyhead.softmax.predict",
    "noisyhead.softmax.prediction_error",
    "noisyhead.tridiagonal.run",
    "noisyhead.whitened_descent.means_along",
    "rivals.sufficient_statistics.smallest_eigenvalue",
    "noisyhead.whitened_descent.releases_and_means",
    "noisyhead.whitened_descent.simulate",
    "noisyhead.whitened_descent.simulated",
}
ATTACKS = {  # what an adversary does
    "dpgd.lower_bound.tracing_attack",
    "noisyhead.attack.candidates",
    "noisyhead.attack.direction",
    "noisyhead.attack.perturb",
    "noisyhead.attack.unit_query",
    "noisyhead.attack.with_each",
    "noisyhead.attack.rerun_displacement",
}
FORMS = {  # the same records in another form, or a check of them
    "dpgd.families.walks",
    "dpgd.update.coefficients",
    "noisyhead.curvature.for_updates",
    "noisyhead.curvature.in_eigenbasis",
    "noisyhead.pretraining.refuse_unbounded",
    "noisyhead.prompts.embed",
    "noisyhead.quadratic.asked",
    "noisyhead.quadratic.quadratics",
    "noisyhead.series.idle",
    "noisyhead.softmax.contexts",
    "noisyhead.softmax.every_task",
    "noisyhead.tridiagonal.grown",
    "noisyhead.tridiagonal.in_tridiagonal_basis",
    "rivals.streams.blocks",
}
NO_RECORD = {  # an x that is a number, or an array of spectra
    "dpgd.rates.exponential_integral",
    "dpgd.rates.exponential_integral_ceiling",
    "dpgd.rates.exponential_integral_tail",
}
EXEMPT = WITHOUT_PRIVACY | ATTACKS | FORMS | NO_RECORD


def modules() -> Iterator[ModuleType]:
    for package in (rivals, noisyhead, dpgd):
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def public(module: ModuleType) -> dict[str, Callable[..., object]]:
    """Its own functions by name."""
    own = {name: thing for name, thing in inspect.getmembers(module, inspect.isfunction) if not name.startswith("_")}
    prefix = module.__name__.removeprefix("costofprivacy.")
    return {f"{prefix}.{name}": thing for name, thing in own.items() if thing.__module__ == module.__name__}


EVERY = {name: function for module in modules() for name, function in public(module).items()}
SEEING = {name for name, function in EVERY.items() if PRIVATE & set(inspect.signature(function).parameters)}
RELEASING = sorted((SEEING - EXEMPT) | ACCOUNTS)


def test_what_is_exempt_is_there_and_sees_records() -> None:
    assert EXEMPT <= SEEING
    assert set(EVERY) - SEEING >= ACCOUNTS
