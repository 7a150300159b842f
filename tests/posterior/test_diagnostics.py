from dataclasses import replace

import numpy as np
import pytest

from disaggregate.posterior.diagnostics import _judge, diagnose
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.ladder import LadderReport
from disaggregate.posterior.log_evidence import LogEvidence
from tests.helpers.synthetic import make_posterior

X = np.random.default_rng(9).normal(size=(6, 2))


def chains(seed, n_chains=4, n_draws=400, gap=0.0, memory=0.0):
    """Chains of a wandering intercept; ``gap`` sets them apart, ``memory`` makes them slow."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_chains, n_draws))
    for draw in range(1, n_draws):
        noise[:, draw] += memory * noise[:, draw - 1]
    intercept = noise + gap * np.arange(n_chains)[:, None]
    weights = np.column_stack([intercept.ravel(), np.zeros((n_chains * n_draws, 3))])
    return make_posterior(weights, n_chains, delta2=rng.gamma(2.0, size=(n_chains, n_draws)))


def test_chains_that_agree(seed):
    diagnostics = diagnose(chains(seed), X)
    assert diagnostics.converged
    assert diagnostics.verdict.startswith("The chains agree (worst R-hat 1.0")
    assert diagnostics.worst_rhat < 1.01
    assert diagnostics.fewest_effective > 400


def test_chains_that_do_not_agree(seed):
    diagnostics = diagnose(chains(seed, gap=2.0), X)
    assert not diagnostics.converged
    assert diagnostics.verdict.startswith("The chains do not agree (worst R-hat ")
    assert "n_burn=1600, n_draws=1600" in diagnostics.verdict
    assert diagnostics.worst_rhat > 1.5


def test_draws_that_are_too_few(seed):
    diagnostics = diagnose(chains(seed, n_draws=100, memory=0.85), X)
    assert not diagnostics.converged
    assert diagnostics.fewest_effective < 100


def test_one_chain(seed):
    diagnostics = diagnose(chains(seed, n_chains=1, n_draws=1000), X)
    assert diagnostics.converged
    assert "one chain cannot show" in diagnostics.verdict
    assert "n_chains=4" in diagnostics.verdict


@pytest.mark.parametrize("n_draws", [1, 3])
def test_draws_that_cannot_be_judged(seed, n_draws):
    diagnostics = diagnose(chains(seed, n_draws=n_draws), X)
    assert not diagnostics.converged
    assert (
        diagnostics.verdict
        == f"{n_draws} draws per chain are too few to judge the result: set n_draws to 100 or more."
    )


@pytest.mark.parametrize(
    ("worst", "fewest", "n_chains", "converged", "words"),
    [
        (1.003, 900.0, 4, True, "The chains agree (worst R-hat 1.003, at least 900 effective draws)."),
        (1.02, 900.0, 4, True, "The chains nearly agree"),
        (1.02, 90.0, 4, False, "The draws are too few for reliable intervals"),
        (1.0, 90.0, 1, False, "The draws are too few for reliable intervals"),
        (1.2, 900.0, 4, False, "The chains do not agree"),
        (np.inf, 4.0, 4, False, "The chains do not agree (worst R-hat inf"),
        (1.2, 900.0, 1, False, "The chain has not settled"),
        (1.0, 900.0, 1, True, "The chain looks settled"),
        (np.nan, 900.0, 4, False, "500 draws per chain are too few to judge"),
        (1.0, np.nan, 4, False, "500 draws per chain are too few to judge"),
    ],
)
def test_verdicts(worst, fewest, n_chains, converged, words):
    assert _judge(worst, fewest, n_chains, 500)[0] == converged
    assert _judge(worst, fewest, n_chains, 500)[1].startswith(words)


def test_summary_has_the_worst_of_each_quantity(seed):
    diagnostics = diagnose(chains(seed), X)
    table = diagnostics.summary().set_index("quantity")
    assert table.index.tolist() == ["delta2", "n_active", "f"]
    assert table.columns.tolist() == ["rhat", "ess_bulk", "ess_tail"]
    assert table.loc["f", "rhat"] == diagnostics.rhat["f"].max()
    assert table["rhat"].max() == diagnostics.worst_rhat
    assert table[["ess_bulk", "ess_tail"]].to_numpy().min() == diagnostics.fewest_effective
    assert str(diagnostics).startswith(diagnostics.verdict)
    assert "ess_tail" in str(diagnostics)


def test_many_individuals_are_represented_by_some(seed):
    crowd = np.random.default_rng(seed).normal(size=(1234, 2))
    diagnostics = diagnose(chains(seed, n_draws=20), crowd)
    checked = diagnostics.individuals
    assert len(checked) == len(set(checked)) == len(diagnostics.rhat["f"]) == 500
    assert (checked[0], checked[-1]) == (0, 1233)


def test_few_individuals_are_all_checked(seed):
    assert diagnose(chains(seed, n_draws=20), X).individuals.tolist() == list(range(6))


def test_the_verdict_tells_when_predictions_are_not_what_is_slow(seed):
    steps = np.random.default_rng(seed).integers(0, 2, size=(4, 400)) * 2 - 1
    agreeing = chains(seed)
    part = replace(agreeing.parts[0], n_active=np.cumsum(steps, axis=1))
    diagnostics = diagnose(replace(agreeing, parts=(part,)), X)
    assert diagnostics.fewest_effective < 100
    assert not diagnostics.converged
    assert "Predictions rest on f" in diagnostics.verdict


def ladder(swaps=0.4, gain=5.0, n_rungs=6):
    powers = np.linspace(1.0, 0.0, n_rungs)
    rates = np.full(n_rungs - 1, 0.5)
    rates[2] = swaps
    return LadderReport(powers, rates, LogEvidence(gain - 20.0, 0.1), -20.0)


def test_replicas_that_swap(seed):
    verdict = diagnose(chains(seed), X, ladder()).verdict
    assert verdict.startswith("The chains agree")
    assert "The replicas swap well (6 replicas per chain, neighbours swap in 40% of the attempts" in verdict


def test_replicas_that_do_not_swap(seed):
    verdict = diagnose(chains(seed), X, ladder(swaps=0.02)).verdict
    assert "swap too rarely" in verdict
    assert "n_replicas=12" in verdict


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (5.0, "say more than the base rate: the odds are 150 to 1 that the features matter"),
        (0.7, "say little beyond the base rate: the odds are only 2 to 1 that the features matter"),
        (-2.0, "say little beyond the base rate: the odds are 7.4 to 1 that the features do not"),
    ],
)
def test_what_the_reports_tell(seed, gain, words):
    assert words in diagnose(chains(seed), X, ladder(gain=gain)).verdict


def test_swaps_and_gain_do_not_decide_convergence(seed):
    assert diagnose(chains(seed), X, ladder(swaps=0.02, gain=-2.0)).converged


def test_evidence_and_kernels_are_printed(seed):
    kernels = [
        KernelScore("linear", 0.1, LogEvidence(-3.0, 0.2), 0.6, 0.0),
        KernelScore("rbf", 0.25, LogEvidence(1.0, 0.3), 0.4, 1.0, emphasis=2.0),
    ]
    printed = str(diagnose(chains(seed), X, ladder(), kernels))
    assert "log evidence -15.00 ± 0.10; of a constant -20.00" in printed
    assert "kernels compared: linear emphasis 1 -3.00 ± 0.20, weight 0.00; " in printed
    assert "; rbf gamma 0.25 emphasis 2 1.00 ± 0.30, weight 1.00" in printed
