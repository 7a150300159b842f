"""Tell who is positive in three districts of which only the shares are known.

Run ``python examples/districts.py``.
"""

import numpy as np
from sklearn.metrics import roc_auc_score

import disaggregate as dg

town = dg.datasets.make_districts(random_state=0)
print("reported shares:", town.shares.to_dict())

model = dg.GroupStatsClassifier(random_state=0, progress=True)
model.fit(town.X, town.shares, groups=town.groups)

probability = model.predict_proba(town.X)[:, 1]
low, high = model.predict_interval(town.X, level=0.9).T
print(model.group_table())
print(model.diagnostics_)
print("AUC against the hidden labels:", round(roc_auc_score(town.y, probability), 3))

surest = np.argsort(high - low)[:5]
for row in surest:
    print(f"person {row} of group {town.groups[row]}: {probability[row]:.2f} ({low[row]:.2f} to {high[row]:.2f})")
