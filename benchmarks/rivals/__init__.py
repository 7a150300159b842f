"""One adapter a rival: ``fit(X, shares, groups)`` on standardised features, then ``decision_function(X)``.

Every rival is tuned on the error in the shares of groups left out, never on anybody's label; ``probability(X)``
comes from its scores by a link that is fitted to the same shares. ``registry.py`` lists them.
"""
