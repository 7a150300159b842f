import numpy as np
import pytest

from disaggregate.posterior.log_evidence import LogEvidence, average_evidence, log_evidence


def gaussian_stones(rng, n_sweeps, variances=(0.25, 1.0, 3.0)):
    """Log ratios of unnormalised exp(-x^2 / (2 v)) along a ladder; the normalisers are sqrt(2 pi v)."""
    draws = [np.sqrt(v) * rng.standard_normal(n_sweeps) for v in variances]
    log_ratios = np.empty((n_sweeps, len(variances) - 1, 2))
    for pair in range(len(variances) - 1):
        cold, hot = variances[pair], variances[pair + 1]
        for place, x in enumerate((draws[pair + 1], draws[pair])):
            log_ratios[:, pair, place] = 0.5 * x**2 * (1.0 / hot - 1.0 / cold)
    return log_ratios


def test_ratio_of_known_normalisers(rng):
    exact = 0.5 * np.log(0.25 / 3.0)
    found = log_evidence([gaussian_stones(rng, 4000) for _ in range(6)])
    assert found.std_error < 0.02
    assert abs(found.value - exact) < 4.5 * found.std_error


def test_standard_error_is_about_right(rng):
    exact = 0.5 * np.log(0.25 / 3.0)
    z = []
    for _ in range(200):
        found = log_evidence([gaussian_stones(rng, 200) for _ in range(8)])
        z.append((found.value - exact) / found.std_error)
    assert 0.85 < np.std(z) < 1.6


def test_one_chain_is_cut_for_its_error(rng):
    found = log_evidence([gaussian_stones(rng, 400)])
    assert 0.0 < found.std_error < 0.3


@pytest.mark.parametrize("n_sweeps", [1, 3])
def test_too_few_sweeps_give_no_error_but_a_value(rng, n_sweeps):
    found = log_evidence([gaussian_stones(rng, n_sweeps)])
    assert np.isfinite(found.value)


def test_speaks_as_a_number_and_in_words():
    found = LogEvidence(-12.345, 0.067)
    assert float(found) == -12.345
    assert str(found) == "-12.35 ± 0.07" or str(found) == "-12.34 ± 0.07"


def test_evidence_of_several_models_is_their_average():
    parts = [LogEvidence(np.log(2.0), 0.1), LogEvidence(np.log(6.0), 0.2)]
    average = average_evidence(parts, [0.25, 0.75])
    assert average.value == pytest.approx(np.log(5.0))
    assert average.std_error == pytest.approx(np.hypot(0.1 * 0.1, 0.9 * 0.2))


@pytest.mark.parametrize("largest", [1e10, 1e50, 1e100])
def test_ratios_far_apart_have_an_answer(largest):
    rng = np.random.default_rng(5)
    ratios = rng.normal(size=(40, 3, 2))
    ratios[7, 1, 0] = largest
    assert np.isfinite(log_evidence([ratios]).value)
