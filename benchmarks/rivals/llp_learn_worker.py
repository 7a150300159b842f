"""Runs inside llp-learn's own environment: fits the networks that ``llp_learn.py`` asks for.

Each line of input names an ``.npz`` file with the data and the setting of a fit; the layers of the network go to
the file beside it with ``.out.npz``, and one line of output says so. Plain NumPy of any version reads both.
"""

import contextlib
import io
import sys

import numpy as np
import torch
from llp_learn.mixbag import MixBag


def fit_network(path):
    """Fit one network and write its weights."""
    with np.load(path) as job:
        network = MixBag(
            lr=float(job["rate"]),
            n_epochs=int(job["epochs"]),
            consistency="none",
            choice="uniform",
            confidence_interval=0.005,  # as in the method's paper
            model_type="simple-mlp",
            hidden_layer_sizes=(int(job["hidden"]),),
            device="cpu",
            n_jobs=0,
            random_state=0,
        )
        network.fit(job["X"].astype(np.float32), job["place"], job["share"].astype(np.float32))
    layers = {name: values.numpy() for name, values in network.model.state_dict().items()}
    np.savez(path + ".out.npz", **layers)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for line in sys.stdin:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):  # every epoch
            fit_network(line.strip())
        print("done", flush=True)
