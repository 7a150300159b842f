"""Evidence and weight of a kernel in the comparison of kernels."""

from __future__ import annotations

from dataclasses import dataclass

from disaggregate.posterior.log_evidence import LogEvidence


@dataclass(frozen=True)
class KernelScore:
    """A kernel of the comparison of kernels.

    Attributes
    ----------
    kernel : str
        Its name.
    gamma : float
        Its width; a linear kernel does not use it.
    log_evidence : LogEvidence
        Log marginal likelihood of the reports: from a short run, or, with a standard error of NaN, from the
        Laplace approximation at its modes.
    prior : float
        Its prior probability.
    weight : float
        Its share of the draws: its posterior probability, or 0 if that is negligible.
    context : bool
        Whether the average features of a person's group are in the score.
    emphasis : float
        How much the prior favours the main directions in which individuals differ.
    """

    kernel: str
    gamma: float
    log_evidence: LogEvidence
    prior: float
    weight: float
    context: bool = False
    emphasis: float = 1.0

    def __str__(self) -> str:
        width = "" if self.kernel == "linear" else f" gamma {self.gamma:.3g}"
        besides = " with context" if self.context else ""
        name = f"{self.kernel}{width} emphasis {self.emphasis:.3g}{besides}"
        return f"{name} {self.log_evidence}, weight {self.weight:.2f}"
