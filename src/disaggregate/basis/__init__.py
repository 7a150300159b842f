"""Stage 3, kernel basis: kernels, their centres, and the columns Psi that they make."""

from disaggregate.basis.candidates import candidate_kernels
from disaggregate.basis.centers import choose_centers
from disaggregate.basis.columns import Basis, unit_columns
from disaggregate.basis.directions import Directions, principal_directions
from disaggregate.basis.kernels import Kernel, resolve_kernel

__all__ = [
    "Basis",
    "Directions",
    "Kernel",
    "candidate_kernels",
    "choose_centers",
    "principal_directions",
    "resolve_kernel",
    "unit_columns",
]
