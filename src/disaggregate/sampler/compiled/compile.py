"""How kernels are compiled."""

import numba

# Cached on disk, free of the interpreter lock so that chains run side by side, and with NumPy's own
# division by zero: a chain never raises.
_HOW = {"cache": True, "nogil": True, "error_model": "numpy"}

# For the few that Python calls.
kernel = numba.njit(**_HOW)

# For all others: a third of the compile time would go into ways in from Python that nobody uses.
part = numba.njit(**_HOW, no_cpython_wrapper=True, no_cfunc_wrapper=True)

# For long sums: lets the compiler add in any order, which is what makes it use vector instructions.
summing_part = numba.njit(
    **_HOW, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"reassoc", "contract", "nsz"}
)

# For parts with one caller: they become part of it before anything is compiled, which is sooner again.
inlined_part = numba.njit(**_HOW, no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")
