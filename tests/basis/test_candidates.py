import numpy as np
import pytest

from disaggregate.basis import candidate_kernels

X = np.random.default_rng(0).normal(size=(20, 4))
SCALE = 1.0 / (4 * X.var())


def candidates(kernel, gamma):
    return [(k.name, k.gamma) for k, _ in candidate_kernels(kernel, gamma, 3, 1.0, X)]


def test_both_open():
    found = candidates("auto", "auto")
    assert [name for name, _ in found] == ["linear", "rbf", "rbf", "rbf"]
    np.testing.assert_allclose([gamma for _, gamma in found[1:]], [SCALE / 4, SCALE, 4 * SCALE])


def test_straight_and_curved_are_about_as_probable():
    line, *curves = (odds for _, odds in candidate_kernels("auto", "auto", 3, 1.0, X))
    assert line / (line + sum(curves)) == pytest.approx(6.0 / 13.0)
    assert curves == sorted(curves, reverse=True)


def test_only_the_kernel_open():
    assert candidates("auto", 0.7) == [("linear", 0.7), ("rbf", 0.7)]


def test_only_the_width_open():
    assert [name for name, _ in candidates("laplacian", "auto")] == ["laplacian"] * 3


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_kernels_without_a_width_stand_alone(kernel):
    assert len(candidates(kernel, "auto")) == 1


def test_nothing_open():
    assert candidates("rbf", "scale") == [("rbf", SCALE)]


def test_a_kernel_of_ones_own():
    def mine(A, B):
        return A @ B.T

    assert candidates(mine, "auto") == [(mine, SCALE)]


def test_a_wrong_name_is_named():
    with pytest.raises(ValueError, match="kernel must be a callable or one of"):
        candidates("automatic", "auto")
