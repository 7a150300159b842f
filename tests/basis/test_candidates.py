import numpy as np
import pytest

from disaggregate.basis import candidate_kernels

X = np.random.default_rng(0).normal(size=(20, 4))
SCALE = 1.0 / (4 * X.var())


def candidates(kernel, gamma, emphasis=1.0):
    return [(one.kernel.name, one.kernel.gamma) for one in candidate_kernels(kernel, gamma, {}, emphasis, X)]


def test_both_open():
    found = candidates("auto", "auto")
    assert [name for name, _ in found] == ["linear", "rbf", "rbf", "rbf"]
    np.testing.assert_allclose([gamma for _, gamma in found[1:]], [SCALE / 4, SCALE, 4 * SCALE])


def test_straight_and_curved_are_about_as_probable():
    for emphasis, n_straight, share in ((1.0, 1, 6.0 / 13.0), ("auto", 2, 9.0 / 16.0)):
        odds = [one.odds for one in candidate_kernels("auto", "auto", {}, emphasis, X)]
        straight, curved = odds[:n_straight], odds[n_straight:]
        assert sum(straight) / sum(odds) == pytest.approx(share)
        assert len(curved) == 3
        assert curved == sorted(curved, reverse=True)


def test_emphasis_is_open_for_straight_borders():
    found = [(one.kernel.name, one.emphasis) for one in candidate_kernels("auto", "scale", {}, "auto", X)]
    assert found == [("linear", 1.0), ("linear", 2.0), ("rbf", 2.0)]


def test_an_emphasis_that_is_given_holds_for_all():
    assert {one.emphasis for one in candidate_kernels("auto", "auto", {}, 1.5, X)} == {1.5}


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


@pytest.mark.parametrize("emphasis", ["auto", 1.0])
def test_places_have_a_straight_border_unless_an_average_is_asked_for(emphasis):
    found = candidate_kernels("auto", "auto", {}, emphasis, X, of_places=True)
    assert [(one.kernel.name, one.emphasis) for one in found] == [("linear", 1.0)]
    averaged = candidate_kernels("average", "auto", {}, emphasis, X, of_places=True)
    assert [one.kernel.name for one in averaged] == ["linear", "rbf", "rbf", "rbf"]


def test_an_average_is_what_auto_is_elsewhere():
    assert candidates("average", "auto") == candidates("auto", "auto")
