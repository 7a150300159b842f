"""The equations: score components and their priors, the link, and the likelihood of the groups' reports.

Plain NumPy, to be read beside the equations of docs/model.md; ``sampler.compiled`` has fast twins of what is hot.
"""
