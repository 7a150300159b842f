"""The reference itself is right: it settles, it agrees with other ways to the same numbers, it knows the prior.

Two of the three traps in the paper's printed text are proved here: the shape of the scale's conditional, and the
quadratic form of the kernel selection. The third, the normaliser of the Beta density, is shown to matter.
"""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betaln, digamma, gammaln, log_ndtr, ndtr

from tests.helpers.enumeration import exact_posterior, group_likelihood, whitened

SIZES = [3, 2, 1]
FIELDS = [
    "probability",
    "label_probability",
    "inclusion",
    "model_probability",
    "mean_active",
    "mean_log_scale",
    "log_evidence",
]


def kernels(rng, n_kernels, n_rows=6, n_new=2):
    """Gaussian kernel columns at random rows and at new rows, centred on the first rows."""
    x, x_new = rng.normal(size=(n_rows, 2)), rng.normal(size=(n_new, 2))
    return tuple(np.exp(-0.5 * ((at[:, None] - x[:n_kernels]) ** 2).sum(axis=2)) for at in (x, x_new))


def beta_evidence(n, share, confidence, *, normalised=True):
    true_share = np.arange(n + 1) / n
    alpha, beta = confidence * true_share + 1, confidence * (1 - true_share) + 1
    log_density = (alpha - 1) * np.log(share) + (beta - 1) * np.log1p(-share)
    return log_density - betaln(alpha, beta) if normalised else log_density


def counts(n, allowed):
    return np.where(np.isin(np.arange(n + 1), allowed), 0.0, -np.inf)


def with_intercept(columns, intercept):
    return np.hstack([np.ones((len(columns), int(intercept))), columns])


EVIDENCE = {
    "soft": [beta_evidence(3, 0.4, 5.0), beta_evidence(2, 0.8, 5.0), np.log([0.3, 0.7])],
    "sharp": [beta_evidence(3, 0.35, 1000.0), beta_evidence(2, 0.9, 1000.0), counts(1, [1])],
    "exact": [counts(3, [1]), counts(2, [1, 2]), counts(1, [0])],
}


def assert_same(posterior, other, tolerance):
    for field in FIELDS:
        np.testing.assert_allclose(
            getattr(posterior, field), getattr(other, field), rtol=0, atol=tolerance, err_msg=field
        )


class TestSettled:
    """Doubling the nodes of every rule does not move the results, heavy tails and sharp evidence included."""

    @pytest.mark.parametrize("evidence", EVIDENCE)
    @pytest.mark.parametrize(("mu", "nu"), [(1.0, 1.0), (8.0, 8.0), (2.0, 30.0)])
    @pytest.mark.parametrize(("n_kernels", "intercept"), [(1, False), (1, True), (2, False)])
    def test_up_to_two_active_columns(self, rng, n_kernels, intercept, mu, nu, evidence):
        posteriors = self.with_nodes(rng, [None, 300], n_kernels, intercept, mu, nu, evidence)
        assert_same(*posteriors, tolerance=1e-8)

    @pytest.mark.parametrize(
        ("n_kernels", "intercept", "evidence", "mu", "tolerance"),
        [
            (2, True, "exact", 1.0, 1e-5),
            (3, False, "sharp", 8.0, 1e-6),
            (3, False, "soft", 1.0, 1e-5),
            pytest.param(2, True, "exact", 8.0, 1e-6, marks=pytest.mark.thorough),
            pytest.param(3, False, "sharp", 1.0, 1e-5, marks=pytest.mark.thorough),
            pytest.param(3, False, "soft", 8.0, 1e-6, marks=pytest.mark.thorough),
        ],
    )
    def test_three_active_columns(self, rng, n_kernels, intercept, evidence, mu, tolerance):
        posteriors = self.with_nodes(rng, [45, 90], n_kernels, intercept, mu, mu, evidence)
        assert_same(*posteriors, tolerance=tolerance)

    @pytest.mark.parametrize(("mu", "tolerance"), [(1.0, 3e-3), (8.0, 1e-4)])
    def test_four_active_columns(self, rng, mu, tolerance):
        posteriors = self.with_nodes(rng, [30, None], 3, True, mu, mu, "exact")
        assert_same(*posteriors, tolerance=tolerance)

    @staticmethod
    def with_nodes(rng, node_numbers, n_kernels, intercept, mu, nu, evidence):
        psi, psi_new = kernels(rng, n_kernels)
        prior = {"a": 1.0, "b": 1.0, "mu": mu, "nu": nu}
        return [
            exact_posterior(
                psi, SIZES, EVIDENCE[evidence], intercept=intercept, **prior, psi_new=psi_new, n_nodes=n_nodes
            )
            for n_nodes in node_numbers
        ]


@pytest.mark.parametrize("n", range(1, 9))
def test_group_likelihood_is_the_sum_over_all_label_vectors(rng, n):
    positive = rng.uniform(size=(n, 3))
    count_likelihood = rng.uniform(size=n + 1) * rng.integers(0, 2, size=n + 1)
    expected, expected_joint = np.zeros(3), np.zeros((n, 3))
    for labels in product([0, 1], repeat=n):
        y = np.array(labels)[:, None]
        probability = np.prod(np.where(y, positive, 1 - positive), axis=0) * count_likelihood[sum(labels)]
        expected += probability
        expected_joint += y * probability
    likelihood, joint = group_likelihood(positive, count_likelihood)
    np.testing.assert_allclose(likelihood, expected, rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose(joint, expected_joint, rtol=1e-13, atol=1e-16)


def label_vectors(sizes, log_likelihoods):
    """All the label vectors of all the groups, with the likelihood of the evidence given each."""
    vectors = np.array(list(product([0.0, 1.0], repeat=sum(sizes))))
    groups = np.split(vectors, np.cumsum(sizes)[:-1], axis=1)
    logs = [ll[labels.sum(axis=1).astype(int)] for ll, labels in zip(log_likelihoods, groups, strict=True)]
    return vectors, np.exp(np.sum(logs, axis=0))


def beta_bernoulli(n_active, n_kernels, a, b):
    return np.exp(betaln(n_active + a, n_kernels - n_active + b) - betaln(a, b))


def explicit_scale_posterior(psi, sizes, log_likelihoods, *, intercept, a, b, mu, nu, psi_new):
    """Moments with delta2 kept: a grid on its logarithm, Gauss-Hermite over the weights, all label vectors.

    Shares nothing with the reference but the whitening; no conjugate formula is used.
    """
    grid, step = np.linspace(-4.0, 7.0, 141, retstep=True)
    log_prior = mu / 2 * np.log(nu / 2) - gammaln(mu / 2) - mu / 2 * grid - nu / 2 * np.exp(-grid)
    vectors, likelihood = label_vectors(sizes, log_likelihoods)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    total = np.zeros(3 + psi.shape[1] + len(psi) + len(psi_new))
    for model in product([False, True], repeat=psi.shape[1]):
        design, design_new = (with_intercept(columns[:, model], intercept) for columns in (psi, psi_new))
        rows = whitened(design, np.vstack([design, design_new]))
        standard = np.array(list(product(nodes, repeat=rows.shape[1])))
        weight = np.array([np.prod(w) for w in product(weights, repeat=rows.shape[1])])
        weight = weight / np.sqrt(2 * np.pi) ** rows.shape[1] * beta_bernoulli(sum(model), len(model), a, b)
        for log_scale, log_density in zip(grid, log_prior, strict=True):
            score = np.exp(log_scale / 2) * rows @ standard.T
            here, new = score[: len(psi)], ndtr(score[len(psi) :])
            joint = np.exp(vectors @ log_ndtr(here) + (1 - vectors) @ log_ndtr(-here)) * likelihood[:, None]
            at_node = joint.sum(axis=0) * weight * np.exp(log_density) * step
            labels = vectors.T @ (joint @ weight) * np.exp(log_density) * step
            mass = at_node.sum()
            scalars = [mass, mass * log_scale, mass * sum(model)]
            total += np.concatenate([scalars, mass * np.array(model), labels, new @ at_node])
    evidence, moments = total[0], total[1:] / total[0]
    return np.log(evidence), moments


MODERATE_PRIOR = {"a": 1.5, "b": 0.7, "mu": 8.0, "nu": 8.0}


class TestAgainstExplicitScale:
    @pytest.mark.parametrize("evidence", EVIDENCE)
    @pytest.mark.parametrize(("n_kernels", "intercept"), [(1, True), (2, False)])
    def test_every_result(self, rng, n_kernels, intercept, evidence):
        psi, psi_new = kernels(rng, n_kernels)
        arguments = (psi, SIZES, EVIDENCE[evidence])
        exact = exact_posterior(*arguments, intercept=intercept, **MODERATE_PRIOR, psi_new=psi_new)
        log_evidence, moments = explicit_scale_posterior(
            *arguments, intercept=intercept, **MODERATE_PRIOR, psi_new=psi_new
        )
        ours = [[exact.mean_log_scale, exact.mean_active], exact.inclusion, exact.label_probability]
        np.testing.assert_allclose(np.concatenate([*ours, exact.probability]), moments, rtol=0, atol=1e-7)
        assert exact.log_evidence == pytest.approx(log_evidence, abs=1e-7)

    def test_the_printed_shape_of_the_scale_is_off(self, rng):
        """Trap 1: (mu + q)/2 gives E[log delta2] of the explicit grid, the printed (mu + q + 1)/2 does not."""
        psi, psi_new = kernels(rng, 2)
        arguments = (psi, SIZES, EVIDENCE["exact"])
        exact = exact_posterior(*arguments, intercept=False, **MODERATE_PRIOR, psi_new=psi_new)
        _, moments = explicit_scale_posterior(*arguments, intercept=False, **MODERATE_PRIOR, psi_new=psi_new)
        order = exact.models.sum(axis=1)
        shift = digamma((8.0 + order + 1) / 2) - digamma((8.0 + order) / 2)
        printed = exact.mean_log_scale - exact.model_probability @ shift
        assert exact.mean_log_scale == pytest.approx(moments[0], abs=1e-7)
        assert abs(printed - moments[0]) > 0.05


@pytest.mark.parametrize("order", [1, 2, 3])
def test_conditional_of_the_scale_given_the_weights(rng, order):
    """Trap 1 at one point: prior times likelihood of v, integrated numerically over log delta2."""
    mu, nu, squared_length = 3.0, 2.0, float(np.sum(rng.normal(size=order) ** 2))

    def density(log_scale):
        return np.exp(-(mu + order) / 2 * log_scale - (nu + squared_length) / 2 * np.exp(-log_scale))

    mass = quad(density, -10, 40, epsabs=0, epsrel=1e-10, limit=200)[0]
    mean = quad(lambda t: t * density(t), -10, 40, epsabs=0, epsrel=1e-10, limit=200)[0] / mass

    def conjugate_mean(shape):
        return np.log((nu + squared_length) / 2) - digamma(shape)

    assert mean == pytest.approx(conjugate_mean((mu + order) / 2), abs=1e-8)
    assert abs(mean - conjugate_mean((mu + order + 1) / 2)) > 0.1


class TestForwardSimulation:
    """Simulate the model as it is written, keep what the evidence allows: right for any prior, if noisy."""

    N_DRAWS = 400_000

    @pytest.mark.parametrize(("mu", "nu"), [(1.0, 1.0), (4.0, 12.0)])
    @pytest.mark.parametrize(("n_kernels", "intercept"), [(2, False), (3, False), (2, True), (3, True)])
    def test_accepted_draws_agree(self, rng, n_kernels, intercept, mu, nu):
        psi, psi_new = kernels(rng, n_kernels)
        prior = {"a": 1.0, "b": 2.0, "mu": mu, "nu": nu}
        exact = exact_posterior(
            psi, SIZES, EVIDENCE["exact"], intercept=intercept, **prior, psi_new=psi_new, n_nodes=40
        )
        accepted = self.simulate(rng, psi, psi_new, intercept, **prior)
        columns = [[exact.mean_log_scale], exact.inclusion, exact.label_probability, exact.probability]
        error = accepted.std(axis=0) / np.sqrt(len(accepted))
        z = (accepted.mean(axis=0) - np.concatenate(columns))[error > 0] / error[error > 0]
        assert np.abs(z).max() < 4.5
        share = len(accepted) / self.N_DRAWS
        evidence = np.exp(exact.log_evidence)
        assert abs(share - evidence) < 4.5 * np.sqrt(evidence * (1 - evidence) / self.N_DRAWS)

    def simulate(self, rng, psi, psi_new, intercept, *, a, b, mu, nu):
        active = rng.uniform(size=(self.N_DRAWS, psi.shape[1])) < rng.beta(a, b, size=(self.N_DRAWS, 1))
        scale = nu / 2 / rng.gamma(mu / 2, size=self.N_DRAWS)
        score = np.zeros((self.N_DRAWS, len(psi) + len(psi_new)))
        for model in product([False, True], repeat=psi.shape[1]):
            chosen = np.flatnonzero((active == model).all(axis=1))
            rows = with_intercept(np.vstack([psi, psi_new])[:, model], intercept)
            design = rows[: len(psi)]
            factor = np.linalg.cholesky(np.linalg.inv(design.T @ design))
            weights = rng.normal(size=(len(chosen), design.shape[1])) @ factor.T
            score[chosen] = np.sqrt(scale[chosen, None]) * weights @ rows.T
        labels = score[:, : len(psi)] + rng.normal(size=(self.N_DRAWS, len(psi))) > 0
        groups = np.split(labels, np.cumsum(SIZES)[:-1], axis=1)
        allowed = [ll[y.sum(axis=1)] == 0 for ll, y in zip(EVIDENCE["exact"], groups, strict=True)]
        kept = np.all(allowed, axis=0)
        return np.column_stack([np.log(scale), active, labels, ndtr(score[:, len(psi) :])])[kept]


@pytest.mark.parametrize(("mu", "nu"), [(1.0, 1.0), (8.0, 3.0)])
@pytest.mark.parametrize(("n_kernels", "intercept"), [(1, True), (2, False), (3, False), (2, True)])
def test_without_evidence_the_posterior_is_the_prior(rng, n_kernels, intercept, mu, nu):
    psi, psi_new = kernels(rng, n_kernels)
    a, b = 2.0, 3.0
    unknown = [np.zeros(n + 1) for n in SIZES]
    exact = exact_posterior(
        psi, SIZES, unknown, intercept=intercept, a=a, b=b, mu=mu, nu=nu, psi_new=psi_new, n_nodes=50
    )
    assert exact.log_evidence == pytest.approx(0.0, abs=1e-7)
    assert exact.mean_active == pytest.approx(n_kernels * a / (a + b), abs=1e-7)
    assert exact.mean_log_scale == pytest.approx(np.log(nu / 2) - digamma(mu / 2), abs=1e-6)
    np.testing.assert_allclose(exact.inclusion, a / (a + b), atol=1e-7)
    np.testing.assert_allclose(exact.label_probability, 0.5, atol=1e-7)
    np.testing.assert_allclose(exact.probability, 0.5, atol=1e-7)


@pytest.mark.parametrize(("mu", "nu"), [(1.0, 1.0), (8.0, 8.0)])
def test_supervised_single_column_against_adaptive_quadrature(rng, mu, nu):
    column, column_new = rng.uniform(0.2, 1.0, size=(5, 1)), rng.uniform(0.2, 1.0, size=(2, 1))
    labels = np.array([1, 1, 0, 1, 0])
    length = np.linalg.norm(column)

    def integral(extra):
        def integrand(v):
            density = np.exp(gammaln((mu + 1) / 2) - gammaln(mu / 2)) / np.sqrt(np.pi * nu)
            density *= (1 + v**2 / nu) ** (-(mu + 1) / 2)
            return density * np.prod(ndtr((2 * labels - 1) * column[:, 0] * v / length)) * extra(v)

        return sum(quad(integrand, *ends, epsabs=1e-13, limit=400)[0] for ends in [(-np.inf, 0), (0, np.inf)])

    active, empty = integral(lambda v: 1.0), 0.5 ** len(labels)
    evidence = (active + empty) / 2
    new = [integral(lambda v, x=x: ndtr(x * v / length)) for x in column_new[:, 0]]
    scale = integral(lambda v: np.log((nu + v**2) / 2)) - active * digamma((mu + 1) / 2)
    empty_scale = empty * (np.log(nu / 2) - digamma(mu / 2))

    known = [np.where(np.arange(2) == y, 0.0, -np.inf) for y in labels]
    exact = exact_posterior(
        column, [1] * 5, known, intercept=False, a=1.0, b=1.0, mu=mu, nu=nu, psi_new=column_new
    )
    assert exact.log_evidence == pytest.approx(np.log(evidence), abs=1e-9)
    assert exact.mean_active == pytest.approx(active / 2 / evidence, abs=1e-9)
    assert exact.mean_log_scale == pytest.approx((scale + empty_scale) / 2 / evidence, abs=1e-8)
    np.testing.assert_allclose(exact.probability, (np.array(new) + empty / 2) / 2 / evidence, atol=1e-9)
    np.testing.assert_allclose(exact.label_probability, labels, atol=1e-12)


class TestKernelSelection:
    """Trap 3: with beta integrated out, the conditional of gamma has the quadratic form Z' P_g Z."""

    SCALE = 2.3

    @pytest.mark.parametrize("intercept", [False, True])
    def test_conditional_of_the_active_set(self, rng, intercept):
        psi, _ = kernels(rng, 3)
        z = rng.normal(size=len(psi))
        models = list(product([False, True], repeat=3))
        designs = [with_intercept(psi[:, model], intercept) for model in models]
        prior = np.array([beta_bernoulli(sum(model), 3, 1.0, 1.0) for model in models])
        shrinkage = self.SCALE / (1 + self.SCALE)
        printed = [
            (1 + self.SCALE) ** (-design.shape[1] / 2) * np.exp(shrinkage / 2 * z @ projection(design) @ z)
            for design in designs
        ]
        marginal = [gaussian_density(z, np.eye(len(z)) + self.SCALE * projection(design)) for design in designs]
        np.testing.assert_allclose(normalised(prior * printed), normalised(prior * marginal), rtol=1e-10)

    @pytest.mark.parametrize("order", [1, 2])
    def test_marginal_of_the_scores_is_the_integral_over_the_weights(self, rng, order):
        psi, _ = kernels(rng, order)
        z = rng.normal(size=len(psi))
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        standard = np.array(list(product(nodes, repeat=order)))
        weight = np.array([np.prod(w) for w in product(weights / np.sqrt(2 * np.pi), repeat=order)])
        spread = np.linalg.cholesky(self.SCALE * np.linalg.inv(psi.T @ psi))
        residual = z - standard @ spread.T @ psi.T
        integral = weight @ np.exp(-0.5 * (residual**2).sum(axis=1)) / (2 * np.pi) ** (len(z) / 2)
        marginal = gaussian_density(z, np.eye(len(z)) + self.SCALE * projection(psi))
        assert integral == pytest.approx(marginal, rel=1e-8)


def projection(design):
    return design @ np.linalg.pinv(design)


def gaussian_density(z, covariance):
    _, log_determinant = np.linalg.slogdet(2 * np.pi * covariance)
    return np.exp(-0.5 * (log_determinant + z @ np.linalg.solve(covariance, z)))


def normalised(weights):
    return weights / weights.sum()


def test_dropping_the_beta_normaliser_moves_the_posterior(rng):
    """Trap 2: the normaliser depends on the true share, hence on the labels."""
    psi, psi_new = kernels(rng, 2)
    prior = {"intercept": True, "a": 1.0, "b": 1.0, "mu": 8.0, "nu": 8.0, "psi_new": psi_new}
    kept, dropped = (
        exact_posterior(psi, [6], [beta_evidence(6, 0.25, 20.0, normalised=normalised)], **prior, n_nodes=40)
        for normalised in (True, False)
    )
    assert np.abs(kept.label_probability - dropped.label_probability).max() > 0.02


class TestRefusals:
    def test_dependent_columns(self):
        psi = np.ones((3, 2))
        with pytest.raises(ValueError, match="dependent"):
            exact_posterior(psi, [3], [np.zeros(4)], intercept=False, **MODERATE_PRIOR, psi_new=psi)

    @pytest.mark.parametrize("log_likelihood", [np.zeros(3), np.full(4, -np.inf)])
    def test_evidence_that_is_no_evidence(self, log_likelihood):
        psi = np.arange(1.0, 4.0)[:, None]
        with pytest.raises(ValueError, match="log likelihoods"):
            exact_posterior(psi, [3], [log_likelihood], intercept=False, **MODERATE_PRIOR, psi_new=psi)
