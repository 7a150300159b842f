"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any

import numba

from disaggregate.sampler.compiled.disk_cache import keep_on_disk
from disaggregate.sampler.compiled.linking import linked

# Free of the interpreter lock, so that chains run side by side; dividing by zero as NumPy does, without raising.
_HOW = {"nogil": True, "error_model": "numpy"}


def kernel(function: Callable) -> Any:
    """Compile one of the few functions that Python calls; it is cached on disk with all of its parts."""
    return keep_on_disk(numba.njit(**_HOW, no_cfunc_wrapper=True)(function))


# numba types the literal 0 differently from an integer variable and would compile a part again: write np.int64(0).

# Only kernels call parts. A way in from Python or a place in the cache for each of them would take half as long
# again as all the rest of the first fit's compilation.
part = linked(**_HOW)

# For parts that are mostly products and sums: each pair may become one instruction. Sums keep the order in which
# they are written, or the same kernel might round otherwise in every process that compiles it.
fused_part = linked(**_HOW, fastmath={"contract"})

# For parts with one caller: they become part of it before anything is compiled, which is sooner again.
inlined_part = linked(**_HOW, inline="always")
