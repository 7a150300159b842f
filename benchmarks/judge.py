"""How good predictions are: ranked well, right, and as sure as they should be."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

_LEAST = 1e-6
_BINS = 10


def judge(y: np.ndarray, score: np.ndarray, probability: np.ndarray) -> dict[str, float]:
    """Accuracy and AUC of the scores, log loss and calibration error of the probabilities.

    Parameters
    ----------
    y : ndarray of 0 and 1
        True labels.
    score : ndarray
        Positive for the positive class.
    probability : ndarray
        Probability of the positive class.
    """
    probability = probability.clip(_LEAST, 1.0 - _LEAST)
    return {
        "accuracy": float(accuracy_score(y, score > 0.0)),
        "auc": float(roc_auc_score(y, score)),
        "log_loss": float(log_loss(y, probability, labels=[0, 1])),
        "calibration": calibration_error(y, probability),
    }


def calibration_error(y: np.ndarray, probability: np.ndarray) -> float:
    """Mean absolute gap between probability and rate of positives, over bins of equally many individuals."""
    order = np.argsort(probability, kind="stable")
    pieces = [piece for piece in np.array_split(order, min(_BINS, len(y))) if len(piece)]
    gaps = [abs(probability[piece].mean() - y[piece].mean()) for piece in pieces]
    return float(np.average(gaps, weights=[len(piece) for piece in pieces]))
