"""Bad input by the thousand for every reader, and random problems for the whole way of a fit.

``python -m fuzz.dgz``, ``python -m fuzz.dgc``, ``python -m fuzz.people`` and ``python -m fuzz.results`` break the
readers of models, of checkpoints, of tables and of evidence columns; ``python -m fuzz.random_problems``
fits, saves and loads.
"""
