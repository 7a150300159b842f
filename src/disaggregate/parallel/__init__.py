"""Stage 5, where chains run: on threads, on an executor or on a Dask cluster; the sampler does not know which."""
