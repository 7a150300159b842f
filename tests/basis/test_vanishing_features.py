"""Features so small that their squares are no longer numbers: a kernel that vanishes, and no error."""

import numpy as np
import pytest

from disaggregate.basis.columns import Basis
from disaggregate.basis.directions import principal_directions
from disaggregate.basis.kernels import resolve_kernel

TINY = 1e-160 * np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_the_usual_width_is_always_a_number(kernel):
    settled = resolve_kernel(kernel, "scale", 3, 1.0, TINY)
    assert settled.gamma == 1.0
    assert np.isfinite(settled.matrix(TINY, TINY)).all()


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_a_kernel_that_vanishes_has_no_directions_but_the_intercept(kernel):
    basis = Basis(resolve_kernel(kernel, 1.0, 3, 1.0, TINY), TINY, intercept=True)
    directions = principal_directions(basis, basis.columns(TINY))
    assert directions.columns.shape == (1, 3)
    assert np.isfinite(directions.to_kernels).all()
    assert (directions.to_kernels[:, 1:] == 0.0).all()
