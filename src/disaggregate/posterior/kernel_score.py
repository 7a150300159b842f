"""How a kernel did that was compared with others."""

from __future__ import annotations

from dataclasses import dataclass

from disaggregate.posterior.log_evidence import LogEvidence


@dataclass(frozen=True)
class KernelScore:
    """A kernel that was tried.

    Attributes
    ----------
    kernel : str
        Its name.
    gamma : float
        Its width; a linear kernel does not use it.
    log_evidence : LogEvidence
        How probable it makes the reports: from a short run, or, with a standard error of NaN, from the normal
        approximation at its modes.
    prior : float
        Its probability before the reports are seen.
    weight : float
        Its share of the draws: its probability after that, or 0 where it is negligible.
    context : bool
        Whether the average features of a person's group count besides.
    emphasis : float
        How much the main directions in which individuals differ are favoured.
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
