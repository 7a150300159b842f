"""Write a few small models in the present format, with what they predict: ``python -m tests.saving.formats.make``.

Once, when a format is new; the files stay as they are, so that tests see whether later versions still read them.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import disaggregate as dg
from disaggregate.saving.archive import FORMAT

FOLDER = Path(__file__).parent
SHORT = {"n_chains": 2, "n_draws": 5, "n_burn": 5, "n_jobs": 1, "random_state": 0}
RBF = {"kernel": "rbf", "gamma": 1.0}


def models():
    """Fit a model of each kind that differs in what a file holds."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"g": list("aabbbb"), "x": rng.normal(size=6), "c": list("uvuvuv")})
    results = pd.DataFrame({"g": ["a", "b"], "share": [0.5, 0.25]})
    kinds = dg.evidence
    reports = {"a": kinds.AllOf([kinds.Fraction(0.5), kinds.AtLeast(1)]), "b": kinds.Population(0.25, 40)}
    X, groups = people[["x"]], people["g"]
    yield "dense", dg.GroupStatsClassifier(**SHORT).fit(X, reports, groups=groups)
    sparse = dg.GroupStatsClassifier(**SHORT, **RBF, weights="sparse", n_replicas=3)
    yield "sparse", sparse.fit(X.to_numpy(), {"a": 0.5, "b": kinds.Count(2)}, groups=groups)
    settings = {**SHORT, **RBF, "n_replicas": 1}
    yield "tables", dg.fit_tables(people, results, group="g", share="share", settings=settings)


def answers(model):
    """What a model says, as plain numbers."""
    classifier = getattr(model, "classifier", model)
    X = np.linspace(-1.0, 1.0, 3 * classifier.n_features_in_).reshape(3, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of features
        return {
            "predict_proba": classifier.predict_proba(X)[:, 1].tolist(),
            "predict_interval": classifier.predict_interval(X).tolist(),
            "implied": classifier.group_table()["implied"].tolist(),
            "label_proba_": classifier.label_proba_.tolist(),
        }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, model in models():
        model.save(FOLDER / f"format{FORMAT}_{name}.dgz")
        (FOLDER / f"format{FORMAT}_{name}.json").write_text(json.dumps(answers(model)) + "\n", encoding="utf-8")
