"""How kernels are compiled."""

import numba

# Cached on disk, free of the interpreter lock so that chains run side by side, and with NumPy's own
# division by zero: a chain never raises.
kernel = numba.njit(cache=True, nogil=True, error_model="numpy")

# For long sums only: lets the compiler add in any order, which is what makes it use vector instructions.
summing_kernel = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
