"""The sampler of 2005 as published: sparse Gaussian kernels, random-walk latent step, one chain, nothing tuned."""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.ours import Ours
from disaggregate import published_settings


class PublishedSampler(Ours):
    """The paper's priors, moves and numbers of draws; the width of the kernel is scikit-learn's "scale"."""

    name: ClassVar[str] = "published sampler"
    settings: ClassVar[dict[str, Any]] = published_settings()
