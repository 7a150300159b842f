"""Dense weights: a Gaussian process on the same kernels, sampled by a ladder of replicas moved together."""
