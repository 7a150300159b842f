"""Imports of release 0.1 from modules that have moved."""

import importlib

import pytest

import disaggregate.analysis

MOVED = [
    ("disaggregate.choice", "KernelScore"),
    ("disaggregate.folder_analysis", "fit_folder"),
    ("disaggregate.folder_analysis", "predict_folder"),
    ("disaggregate.posterior.contrasts", "contrast"),
    ("disaggregate.posterior.effects", "avg_comparisons"),
    ("disaggregate.posterior.effects", "avg_slopes"),
    ("disaggregate.posterior.effects", "permutation_importance"),
    ("disaggregate.posterior.effects", "predictions"),
    ("disaggregate.posterior.identification", "between_group_share"),
    ("disaggregate.sensitivity", "subgroup_sensitivity"),
]


@pytest.mark.parametrize(("module", "name"), MOVED)
def test_an_old_import_works_and_names_the_new_one(module: str, name: str):
    old = importlib.import_module(module)
    with pytest.warns(FutureWarning, match=f"import {name} from disaggregate") as told:
        found = getattr(old, name)
    assert found.__name__ == name
    assert getattr(importlib.import_module(str(told[0].message).split(" from ")[1].split(". ")[0]), name) is found


def test_from_import():
    with pytest.warns(FutureWarning, match="has moved"):
        from disaggregate.sensitivity import subgroup_sensitivity
    assert subgroup_sensitivity is disaggregate.analysis.subgroup_sensitivity


def test_names_that_no_release_had_are_not_there():
    with pytest.raises(ImportError):
        from disaggregate.sensitivity import nothing  # noqa: F401
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("disaggregate.nothing")
