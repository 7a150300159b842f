"""With dense weights and two coefficients, the classifier agrees with plain quadrature over them."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.special import digamma, gammaln, logsumexp, ndtr
from sklearn.exceptions import ConvergenceWarning

from disaggregate import GaussianProcess, GroupStatsClassifier
from disaggregate.evidence import AtLeast, Count, Evidence, Fraction, Unknown

pytestmark = pytest.mark.full_pilots

MU, NU = 4.0, 16.0
N_CHAINS = 24
CASES: dict[str, tuple[tuple[Evidence, int], ...]] = {
    "fractions": ((Fraction(0.3, 20.0), 4), (Fraction(0.8, 1000.0), 5)),
    "mixed evidence": ((AtLeast(1), 3), (Count(1), 3), (Unknown(), 1), (Fraction(0.0), 2)),
}


def group_likelihood(positive: np.ndarray, log_likelihood: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Likelihood of a group, and of each member's being positive with it, by all label vectors."""
    n = len(log_likelihood) - 1
    total = np.zeros(positive.shape[1:])
    joint = np.zeros(positive.shape)
    for labels in product((0, 1), repeat=n):
        chance = np.exp(log_likelihood[sum(labels)])
        for member, label in enumerate(labels):
            chance = chance * (positive[member] if label else 1.0 - positive[member])
        total += chance
        joint[np.array(labels) == 1] += chance
    return total, joint


def quadrature(case: tuple[tuple[Evidence, int], ...], x: np.ndarray, new: np.ndarray, n_nodes: int) -> tuple:
    """Posterior means with f = beta_0 + beta_1 x / rms(x), beta a bivariate t once delta2 is integrated out.

    Last comes the log marginal likelihood.
    """
    u = np.linspace(-7.0, 7.0, n_nodes)
    beta_0, beta_1 = np.meshgrid(np.sinh(u), np.sinh(u), indexing="ij")
    squares = beta_0**2 + beta_1**2
    weight = np.cosh(u)[:, None] * np.cosh(u) * (1.0 + squares / NU) ** (-0.5 * (MU + 2.0))
    log_constant = gammaln(0.5 * MU + 1.0) - gammaln(0.5 * MU) - np.log(NU * np.pi) + 2.0 * np.log(u[1] - u[0])
    rms = np.sqrt(np.mean(x**2))
    positive = ndtr(beta_0 + beta_1 * (x / rms)[:, None, None])
    label, start = np.zeros(len(x)), 0
    joints = []
    for evidence, n in case:
        total, joint = group_likelihood(positive[start : start + n], evidence.log_likelihood(n))
        weight = weight * total
        joints.append((slice(start, start + n), joint / np.maximum(total, 1e-300)))
        start += n
    log_evidence = log_constant + np.log(weight.sum())
    weight = weight / weight.sum()
    for rows, share in joints:
        label[rows] = (weight * share).sum(axis=(1, 2))
    probability = (weight * ndtr(beta_0 + beta_1 * (new / rms)[:, None, None])).sum(axis=(1, 2))
    log_scale = np.sum(weight * (np.log(0.5 * (NU + squares)) - digamma(0.5 * (MU + 2.0))))
    return probability, label, log_scale, log_evidence


def fit(
    case: tuple[tuple[Evidence, int], ...], x: np.ndarray, seed: int, n_replicas: int | None
) -> GroupStatsClassifier:
    sizes = [n for _, n in case]
    model = GroupStatsClassifier(
        kernel="linear",
        prior=GaussianProcess(emphasis=1.0, mu=MU, nu=NU),
        n_chains=N_CHAINS,
        n_replicas=n_replicas,
        n_draws=1000,
        n_burn=100,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(
            x[:, None], {j: e for j, (e, _) in enumerate(case)}, groups=np.repeat(np.arange(len(case)), sizes)
        )


@pytest.mark.parametrize("n_replicas", [None, 1], ids=["ladder", "no ladder"])
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_quadrature(name: str, n_replicas: int | None, seed: int, rng: np.random.Generator) -> None:
    case = CASES[name]
    x = rng.uniform(-2.0, 2.0, size=sum(n for _, n in case))
    new = np.array([-3.0, -0.4, 0.9, 2.5])
    exact = quadrature(case, x, new, 500)
    for coarse, fine in zip(quadrature(case, x, new, 350), exact, strict=True):
        np.testing.assert_allclose(coarse, fine, atol=1e-4)
    model = fit(case, x, seed, n_replicas)
    by_chain = (
        model.predict_draws(new[:, None]).mean(axis=1),
        model._fitted.label_sums / model.n_draws,
        np.log(model.posterior_.delta2).mean(axis=1)[:, None],
    )
    for means, truth in zip(by_chain, exact[:3], strict=True):
        error = means.std(axis=0, ddof=1) / np.sqrt(N_CHAINS)
        assert np.all(np.abs(means.mean(axis=0) - truth) < 5.0 * np.maximum(error, 1e-9) + 2e-4)
        np.testing.assert_allclose(means.mean(axis=0), truth, atol=0.1 if np.ndim(truth) == 0 else 0.03)
    if n_replicas is None:
        evidence = model.log_evidence_
        assert evidence.std_error < 0.1
        assert abs(evidence.value - exact[3]) < 5.0 * evidence.std_error + 1e-3


def test_evidence_of_a_constant_agrees_with_quadrature(rng: np.random.Generator) -> None:
    case = CASES["mixed evidence"]
    model = fit(case, np.zeros(sum(n for _, n in case)) + 1.0, 0, None)
    c = np.linspace(-60.0, 60.0, 20_001)
    log_density = (
        gammaln(0.5 * (MU + 1.0)) - gammaln(0.5 * MU) - 0.5 * np.log(NU * np.pi)
        - 0.5 * (MU + 1.0) * np.log1p(c**2 / NU)
    )  # fmt: skip
    for evidence, n in case:
        total, _ = group_likelihood(np.tile(ndtr(c), (n, 1)), evidence.log_likelihood(n))
        log_density = log_density + np.log(np.maximum(total, 1e-300))
    exact = logsumexp(log_density) + np.log(c[1] - c[0])
    assert model.diagnostics_.ladder.log_evidence_constant == pytest.approx(exact, abs=1e-3)
