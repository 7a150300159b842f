"""Dense weights against NumPyro's NUTS on the same model in the same run.

The model of `make_hidden_cluster`: Gaussian kernel of width 1, chi = 1,000, dense weights with the default prior
of delta2, no intercept. NUTS sees the collapsed likelihood in JAX, in double precision, in the same whitened
coordinates, with all-negative groups summed directly. Both run four chains, two at once, and keep 1,000 draws of
each after a warm-up that is enough for them: 500 for NUTS, for ours a pilot run and 200 more. Compilation and
summaries are excluded on both sides, warm-up included. Needs ``pip install numpyro``; run
``python -m benchmarks.rivals.numpyro_dense``; it takes some minutes and writes ``benchmarks/results/nuts.md``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from jax.scipy.special import log_ndtr, ndtr

from disaggregate.basis import Basis, Directions, principal_directions, resolve_kernel
from disaggregate.datasets import make_hidden_cluster
from disaggregate.model.components import make_components
from disaggregate.model.reports import Reports, make_reports
from disaggregate.parallel.one_blas_thread import one_blas_thread
from disaggregate.parallel.round_robin import run_round_robin
from disaggregate.posterior.convergence import bulk_ess, rank_rhat
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense.chains import DenseChains
from disaggregate.sampler.dense.tuning import ENOUGH_TO_TUNE, tune
from disaggregate.sampler.dense.whole import WholeData
from disaggregate.sampler.prepare import prepare
from disaggregate.sampler.rungs import first_powers
from disaggregate.sampler.streams import Streams
from disaggregate.settings import GaussianProcess
from disaggregate.tables.targets import read_group_target

RESULTS = Path(__file__).parents[1] / "results" / "nuts.md"
N_CHAINS, N_DRAWS = 4, 1000
N_WARM, N_WARM_OURS = 500, 200
GAMMA = 0.5


def dense_model(data: Any) -> tuple[Directions, Reports]:
    """Columns and reports that both samplers see."""
    grouped = read_group_target(data.X, data.shares, data.groups, len(data.X), 1000.0)
    basis = Basis(resolve_kernel("rbf", GAMMA, 3, 1.0, data.X), data.X, False)
    return principal_directions(basis, basis.columns(data.X[grouped.order])), make_reports(grouped)


def potential(directions: Directions, reports: Reports) -> Callable[[dict[str, jax.Array]], jax.Array]:
    """Minus the log posterior in JAX."""
    mixed = np.flatnonzero(reports.most[0] > 0)
    size = int(np.diff(reports.offsets)[0])
    rows = reports.offsets[mixed][:, None] + np.arange(size)
    negative = np.setdiff1d(np.arange(reports.offsets[-1]), rows.ravel())
    counts = reports.starts[mixed][:, None] + np.arange(size + 1)
    log_evidence = jnp.asarray(reports.log_likelihood[0][counts])
    columns, deviation = jnp.asarray(directions.columns), jnp.asarray(np.sqrt(directions.spread))
    mu, nu = GaussianProcess().scale_prior()

    def minus_log_posterior(z: dict[str, jax.Array]) -> jax.Array:
        scale = jnp.exp(0.5 * z["log_scale"])
        f = (z["u"] * deviation * scale) @ columns
        p = ndtr(f[rows])
        law = jnp.zeros((len(mixed), size + 1)).at[:, 0].set(1.0)
        for i in range(size):
            shifted = jnp.pad(law[:, :-1], ((0, 0), (1, 0)))
            law = law * (1.0 - p[:, i : i + 1]) + shifted * p[:, i : i + 1]
        log_likelihood = jnp.log((law * jnp.exp(log_evidence)).sum(axis=1)).sum() + log_ndtr(-f[negative]).sum()
        log_prior = -0.5 * mu * z["log_scale"] - 0.5 * nu * jnp.exp(-z["log_scale"])
        return 0.5 * (z["u"] ** 2).sum() - log_prior - log_likelihood

    return minus_log_posterior


def run_nuts(directions: Directions, reports: Reports) -> dict[str, float]:
    """Run NUTS, two chains at once."""
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(potential_fn=potential(directions, reports)),
        num_warmup=N_WARM,
        num_samples=N_DRAWS,
        num_chains=2,
        chain_method="parallel",
        progress_bar=False,
    )
    deviation = np.sqrt(directions.spread)

    def run(seed: int) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(seed)
        start = {"u": 0.1 * rng.standard_normal((2, len(deviation))), "log_scale": np.full(2, 1.6)}
        sampler.run(jax.random.PRNGKey(seed), init_params={k: jnp.asarray(v) for k, v in start.items()})
        return {name: np.asarray(values) for name, values in sampler.get_samples(group_by_chain=True).items()}

    run(99)  # compiles
    started = time.perf_counter()
    parts = [run(seed) for seed in range(N_CHAINS // 2)]
    seconds = time.perf_counter() - started
    u, log_scale = (np.concatenate([part[name] for part in parts]) for name in ("u", "log_scale"))
    f = (u * deviation * np.exp(0.5 * log_scale)[..., None]) @ directions.columns
    return summary(f, log_scale, seconds)


def run_ours(directions: Directions, reports: Reports, n_replicas: int | None) -> dict[str, float]:
    """Run our chains on the same columns."""
    prior = GaussianProcess().component_priors(of_places=False)["individual"]
    deviation, n_groups = np.sqrt(directions.spread), len(reports.law)
    components = make_components(
        len(deviation), deviation, 0, 1.0, prior, None, prior, 0, prior, n_groups, has_samples=False
    )
    prepare("dense")
    streams = Streams(0)
    started = time.perf_counter()
    backend = WholeData(components, directions.columns, reports, first_powers(n_replicas))
    with one_blas_thread():
        tuning = tune(backend, n_replicas, ENOUGH_TO_TUNE, streams.for_pilots(1)[0])
        backend, schedule = backend.with_powers(tuning.powers), Schedule(N_WARM_OURS, N_DRAWS, 1, "dense")
        chains = [
            DenseChains(backend, tuning, schedule, [number], [rng])
            for number, rng in enumerate(streams.for_chains(N_CHAINS))
        ]
        run_round_robin(chains)
    seconds = time.perf_counter() - started
    draws = [one for chain in chains for one in chain.draws()]
    f = np.stack([chain.weights for chain in draws]) @ directions.columns
    return summary(f, np.log([chain.scales[:, 0] for chain in draws]), seconds)


def summary(f: np.ndarray, log_scale: np.ndarray, seconds: float) -> dict[str, float]:
    """Effective draws per second of wall time."""
    ess = bulk_ess(f)  # of the probability too: ranks do not feel Phi
    return {
        "seconds": seconds,
        "worst": float(ess.min()) / seconds,
        "median": float(np.median(ess)) / seconds,
        "delta2": float(bulk_ess(log_scale)) / seconds,
        "rhat": float(rank_rhat(f).max()),
    }


def main() -> None:
    """Run all three and write the table."""
    numpyro.enable_x64()
    numpyro.set_host_device_count(2)
    directions, reports = dense_model(make_hidden_cluster(random_state=0))
    results = {
        "ours, one replica": run_ours(directions, reports, 1),
        "ours, default ladder": run_ours(directions, reports, None),
        "NumPyro NUTS": run_nuts(directions, reports),
    }
    nuts = results["NumPyro NUTS"]
    lines = [
        "# Dense weights against NUTS",
        "",
        "Made by `python -m benchmarks.rivals.numpyro_dense`: effective draws per second of wall time, warm-up",
        "included, compilation excluded; four chains of 1,000 draws on two cores, `make_hidden_cluster()`.",
        "",
        "| sampler | seconds | probability, worst | probability, median | delta2 | worst R-hat |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, row in results.items():
        lines.append(
            f"| {name} | {row['seconds']:.1f} | {row['worst']:.0f} | {row['median']:.0f} | {row['delta2']:.0f} "
            f"| {row['rhat']:.3f} |"
        )
    ours = results["ours, one replica"]
    ratios = " | ".join(f"{ours[name] / nuts[name]:.1f}" for name in ("worst", "median", "delta2"))
    lines += [f"| one replica / NUTS | | {ratios} | |", ""]
    text = "\n".join(lines)
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
