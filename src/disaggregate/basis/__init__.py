"""Stage 3, kernel basis: kernels, their centres, and the columns Psi that they make."""

from disaggregate.basis.centers import choose_centers
from disaggregate.basis.columns import Basis, unit_columns
from disaggregate.basis.kernels import Kernel, resolve_kernel

__all__ = ["Basis", "Kernel", "choose_centers", "resolve_kernel", "unit_columns"]
