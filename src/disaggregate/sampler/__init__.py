"""Stage 4, the sampler: Listing 1 of the paper, one file per block.

The plain NumPy blocks here are the reference; ``compiled`` holds their fast twins, which give the same draws.
"""
