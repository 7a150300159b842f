"""Small operations that compile in a moment.

NumPy's own, and Python's min, max and **, each cost a tenth of a second or more of the first fit.
"""

from disaggregate.sampler.compiled.compile import fused_part, inlined_part, part


@fused_part
def dot(x, y):
    """Return the product of a vector and of as many entries of another."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@part
def copy(target, source):
    """Copy the leading entries."""
    for i in range(target.size):
        target[i] = source[i]


@fused_part
def add_multiple(target, factor, column):
    for i in range(target.size):
        target[i] += factor * column[i]


@part
def fill(target, value):
    for i in range(target.size):
        target[i] = value


@inlined_part
def square(x):
    return x * x


@inlined_part
def lesser(x, y):
    return x if x < y else y


@inlined_part
def greater(x, y):
    return x if x > y else y
