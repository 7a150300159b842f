"""How kernels are compiled."""

from pathlib import Path

import numba

from disaggregate.sampler.compiled.linking import linked
from disaggregate.sampler.compiled.stale import forget_stale_code

_HERE = Path(__file__).parent
forget_stale_code(_HERE.parent, _HERE / "__pycache__")

# Free of the interpreter lock, so that chains run side by side; dividing by zero as NumPy does, without raising.
_HOW = {"nogil": True, "error_model": "numpy"}

# For the few functions that Python calls; kept on disk with all of their parts.
kernel = numba.njit(**_HOW, cache=True, no_cfunc_wrapper=True)

# Only kernels call parts. A way in from Python or a place in the cache for each of them would take half as long
# again as all the rest of the first fit's compilation.
part = linked(**_HOW)

# For parts that are mostly products and sums: each pair may become one instruction. Sums keep the order in which
# they are written, or the same kernel might round otherwise in every process that compiles it.
fused_part = linked(**_HOW, fastmath={"contract"})

# For parts with one caller: they become part of it before anything is compiled, which is sooner again.
inlined_part = linked(**_HOW, inline="always")
