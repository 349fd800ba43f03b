"""The thesis' prefilter with the exact solver inside: what its integer program answers, a thousand times as fast.

Equal to `thesis_ilp.ThesisProgram` with the same candidates, except that ties may be broken otherwise. It shows over
long sequences what looking at 100 candidates costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.fairness.baselines.thesis_ilp import prefilter
from aidos.fairness.rankings import Ints
from aidos.fairness.solver import least_cost
from aidos.fairness.standing import Standing

__all__ = ["Prefiltered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefiltered:
    """Least absolute unfairness at the standing's floor among the candidates of the thesis."""

    candidates: Annotated[int, Ge(1)] = 100
    """Subjects that are looked at: the most relevant, then those who are owed most."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def place(self, standing: Standing) -> Ints:
        """Optimal among the candidates."""
        chosen = prefilter(standing, self.candidates)
        fewer = replace(
            standing,
            relevance=standing.relevance[chosen],
            gains=standing.gains[chosen],
            received=standing.received[chosen],
            earned=standing.earned[chosen],
            accounts=None if standing.accounts is None else standing.accounts[chosen],
        )
        placed: Ints = chosen[least_cost(fewer, 0.0)]
        return placed
