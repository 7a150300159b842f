"""Find suns, boats, houses and trees in pictures, having learned from the captions of whole pictures.

Run ``python examples/captioned_scenes.py``; it writes captioned_scenes.png. It needs
``pip install 'disaggregate[images,plots]'``.
"""

import warnings

import numpy as np
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score

from disaggregate import GroupStatsClassifier
from disaggregate.images import WordFinder, collect_regions, make_scenes, region_truth
from disaggregate.plots import word_overlay

WORDS = ["sun", "boat", "house", "tree"]

known, fresh = make_scenes(60, random_state=0), make_scenes(30, random_state=1)
print("a caption is all that is known of a picture:", known.captions[0])

# Small settings, for a look; leave them out for a real study.
quick = GroupStatsClassifier(
    kernel="rbf", gamma="scale", centers=120, n_replicas=1, n_chains=2, n_draws=200, n_burn=200, random_state=0
)
finder = WordFinder(words=WORDS, classifier=quick)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # so few draws need not agree in everything
    finder.fit(known.images, known.captions)

regions = collect_regions(fresh.images)
probability = finder.predict_proba(regions)
truth = np.concatenate(
    [
        region_truth(labels, words, fresh.words)
        for labels, words in zip(regions.labels, fresh.label_maps, strict=True)
    ]
)
for word in WORDS:
    auc = roc_auc_score(truth == word, probability[word])
    print(f"{word}: AUC {auc:.3f} among the {len(truth)} regions of new pictures")

# One picture for each word, and one with several.
shown = [
    next(i for i, caption in enumerate(fresh.captions) if word in caption) for word in ("boat", "house", "tree")
]
shown.append(max(range(len(fresh.images)), key=lambda i: len(set(WORDS) & set(fresh.captions[i]))))
figure = Figure(figsize=(13.0, 7.2), layout="constrained")
axes = figure.subplots(len(shown), 1 + len(WORDS))
for row, picture in zip(axes, shown, strict=True):
    row[0].imshow(fresh.images[picture])
    row[0].set(xticks=[], yticks=[], title=", ".join(fresh.captions[picture]))
    for ax, word in zip(row[1:], WORDS, strict=True):
        word_overlay(
            fresh.images[picture],
            *finder.find(fresh.images[picture], word),
            ax=ax,
            title=f"{word}?",
            colorbar=False,
        )
figure.colorbar(axes[0, 1].images[-1], ax=axes, shrink=0.6, pad=0.01, label="probability of the word")
figure.savefig("captioned_scenes.png", dpi=110)
print("wrote captioned_scenes.png")
