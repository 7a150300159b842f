"""The slice sampler of one number, for any log density that is passed to it."""

from disaggregate.sampler.compiled.compile import part


@part
def slice_step(log_density, arguments, present, width, rng):
    """Draw from ``log_density(x, *arguments)`` given the present x, by stepping out and shrinkage (Neal, 2003)."""
    level = log_density(present, *arguments) - rng.standard_exponential()
    low = present - width * rng.random()
    high = low + width
    while log_density(low, *arguments) > level:
        low -= width
    while log_density(high, *arguments) > level:
        high += width
    while True:
        proposed = low + (high - low) * rng.random()
        if log_density(proposed, *arguments) >= level:
            return proposed
        if proposed < present:
            low = proposed
        else:
            high = proposed
