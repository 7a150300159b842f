"""Old names of settings: accepted by the classifier with a FutureWarning, and kept in files and checkpoints.

Until release 0.1 the parameters of both priors, and those of the kernels, were arguments of the classifier.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from inspect import Signature, signature
from typing import Any, Self

from disaggregate.settings.conditions import is_one_of
from disaggregate.settings.priors import GaussianProcess, Prior, SpikeSlab, as_prior

_KINDS: dict[str, type[GaussianProcess] | type[SpikeSlab]] = {"dense": GaussianProcess, "sparse": SpikeSlab}
_OF_KERNELS = {"degree": 3, "coef0": 1.0}
_OF_PRIORS = {
    "weights": "dense",
    "a": 1.0,
    "b": 1.0,
    "mu": None,
    "nu": None,
    "latent": "exact",
    "emphasis": "auto",
}
OLD_NAMES = (*_OF_KERNELS, *_OF_PRIORS)

# Names in files: no classifier had the last one as a setting of its own.
NAMES_IN_FILES = (*OLD_NAMES, "cells")
_OF_PRIORS_IN_FILES = (*_OF_PRIORS, "cells")


def with_new_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Put old names of settings into those of today, ``prior`` and ``kernel_params``.

    Parameters
    ----------
    settings : mapping
        Old and new names; what is given under old names changes what is given under new ones.
    """
    new = {name: value for name, value in settings.items() if name not in NAMES_IN_FILES}
    kernel = {name: settings[name] for name in _OF_KERNELS if name in settings}
    if kernel:
        changed = {**(new.get("kernel_params") or {}), **kernel}
        new["kernel_params"] = None if changed == _OF_KERNELS else changed
    prior = {name: settings[name] for name in _OF_PRIORS_IN_FILES if name in settings}
    if prior:
        new["prior"] = _changed(new.get("prior", GaussianProcess.name), prior)
    return new


def with_old_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Put settings into the names that files and checkpoints have.

    Parameters
    ----------
    settings : mapping
        Constructor arguments of the classifier, all of them.
    """
    prior = as_prior(settings["prior"])
    weights = "sparse" if isinstance(prior, SpikeSlab) else "dense"
    rest = {name: value for name, value in settings.items() if name not in ("prior", "kernel_params")}
    kernel = {**_OF_KERNELS, **(settings["kernel_params"] or {})}
    of_prior = prior.get_params()
    if of_prior.get("cells") is False:  # as in files of before
        del of_prior["cells"]
    return {**rest, **kernel, **_OF_PRIORS, **of_prior, "weights": weights}


def _changed(prior: Any, old: dict[str, Any]) -> Any:
    """Return a prior with what old names say of it; by its name where nothing else is special."""
    weights = old.get("weights", "sparse" if isinstance(as_prior(prior), SpikeSlab) else "dense")
    if not is_one_of(weights, *_KINDS):
        return weights  # refused with the other settings when the model is fitted
    kind = _KINDS[weights]
    if kind is GaussianProcess and is_one_of(old.get("latent"), "metropolis"):
        raise ValueError(
            'latent="metropolis" is a step of prior="spike_slab"; a Gaussian process has no such step.'
        )
    _require_sound_although_unused(kind, old)
    known = {**as_prior(prior).get_params(), **old}
    made: Prior = kind(**{name: known[name] for name in kind().get_params() if name in known})
    return kind.name if made == kind() else made


def _require_sound_although_unused(kind: type[Prior], old: dict[str, Any]) -> None:
    """Refuse bad values of parameters that only the other prior has, as release 0.1 did."""
    other = GaussianProcess if kind is SpikeSlab else SpikeSlab
    only_there = set(other().get_params()) - set(kind().get_params())
    other(**{name: value for name, value in old.items() if name in only_there}).check()


def _setting(name: str) -> property:
    def get(model: Any) -> Any:
        _warn(name, "its prior, or its kernel_params, has it")
        return with_old_names(model.get_params(deep=False))[name]

    def put(model: Any, value: Any) -> None:
        model.set_params(**{name: value})

    return property(get, put, doc=f"The old name of a setting, {name}.")


class OldSettings:
    """A classifier that also takes old names of settings, each with a FutureWarning."""

    prior: Any
    kernel_params: Any

    def __init_subclass__(cls, **options: Any) -> None:
        """Leave the keyword that takes old names out of the signature: scikit-learn sets what it finds there."""
        super().__init_subclass__(**options)
        known = [one for one in signature(cls.__init__).parameters.values() if one.kind is not one.VAR_KEYWORD]
        cls.__signature__ = Signature(known[1:])  # type: ignore[attr-defined]

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the prior as ``prior__mu`` and so on.

        Parameters
        ----------
        **params
            Names and values.
        """
        params = self._with_new_names(params)
        if isinstance(self.prior, str) and any(name.startswith("prior__") for name in params):
            self.prior = as_prior(params.pop("prior", self.prior))
        super().set_params(**params)  # type: ignore[misc]
        return self

    def _accept(self, old: dict[str, Any]) -> None:
        """Take keywords that the constructor does not have any more; refuse those that it never had."""
        unknown = [name for name in old if name not in OLD_NAMES]
        if unknown:
            raise TypeError(f"{type(self).__name__} got an unexpected keyword argument {unknown[0]!r}.")
        for name, value in self._with_new_names(old).items():
            setattr(self, name, value)

    def _with_new_names(self, params: dict[str, Any]) -> dict[str, Any]:
        old = [name for name in params if name in OLD_NAMES]
        if not old:
            return params
        present = {"prior": self.prior, "kernel_params": self.kernel_params}
        wanted = with_new_names({**present, **params})
        changed = {name: wanted[name] for name in present if name in params or wanted[name] is not present[name]}
        today = ", ".join(f"{name}={value!r}" for name, value in changed.items())
        _warn(", ".join(old), f"write {today}" if today else _LEAVE_OUT)
        return {**{name: value for name, value in wanted.items() if name not in present}, **changed}

    degree, coef0, emphasis = _setting("degree"), _setting("coef0"), _setting("emphasis")
    weights, latent = _setting("weights"), _setting("latent")
    a, b, mu, nu = _setting("a"), _setting("b"), _setting("mu"), _setting("nu")


_LEAVE_OUT = "leave them out, they are the defaults or have no effect with this prior"


def _warn(names: str, advice: str) -> None:
    message = f"{names}: no longer an argument of the classifier; {advice}. Version 0.4 removes the old names."
    warnings.warn(message, FutureWarning, stacklevel=5)
