"""A fit of a moment, for tests that run it in odd places."""

import hashlib
import warnings

from sklearn.exceptions import ConvergenceWarning

import disaggregate as dg
from tests.helpers.small import small_model

TOWN = dg.datasets.make_districts(random_state=2)


def digest_of_fit(seed=0, weights="dense", **settings):
    """Fit, and return a digest of all draws, to the last bit."""
    one_kernel = {"n_replicas": 1} if weights == "dense" else {}
    model = small_model(weights, random_state=seed, n_jobs=2, **one_kernel, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(TOWN.X, TOWN.shares, groups=TOWN.groups)
    drawn = model.predict_draws(TOWN.X), model.label_proba_
    return hashlib.sha256(b"".join(array.tobytes() for array in drawn)).hexdigest()
