"""Every way to re-rank, by name: the exact one with its three objectives, and the baselines it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from aidos.errors import ParameterError
from aidos.rooms.fairness.reranker import Reranker

if TYPE_CHECKING:
    from aidos.rooms.fairness.accounts import Keeper
    from aidos.rooms.fairness.equity import EquityOfAttention

__all__ = ["METHODS", "Method", "find_method"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to re-rank."""

    about: str
    floor: Literal["kept", "kept without trying", "ignored"] = "kept"
    """What it does about the quality floor."""
    objective: Literal["adaptive", "absolute", "squared"] | None = None
    """Of the exact method; as its parameters say if unset."""
    policy: str = ""
    """Module and class of a baseline; empty for the exact method."""
    needs_groups: bool = False

    @property
    def keeps_floor(self) -> bool:
        """Whether every ranking keeps the quality floor."""
        return self.floor != "ignored"

    @property
    def follows_floor(self) -> bool:
        """Whether another floor makes it answer differently."""
        return self.floor == "kept"

    def reranker(self, equity: EquityOfAttention, keeper: Keeper) -> Reranker:
        """A re-ranker that follows it."""
        if not self.policy:
            return Reranker(replace(equity, objective=self.objective or equity.objective), keeper)
        module, _, name = self.policy.partition(":")
        return Reranker(equity, keeper, getattr(import_module(f"aidos.rooms.fairness.{module}"), name)())


METHODS: Mapping[str, Method] = {
    "adaptive": Method(about="exact, squared up to a growing width (recommended)", objective="adaptive"),
    "absolute": Method(about="exact, absolute differences", objective="absolute"),
    "squared": Method(about="exact, squared differences", objective="squared"),
    "thesis": Method(about="integer program over 100 candidates", policy="programs:ThesisProgram"),
    "prefilter": Method(about="exact, absolute, over the same candidates", policy="programs:Prefiltered"),
    "relevance": Method(about="never reorders", policy="heuristics:ByRelevance", floor="kept without trying"),
    "tie-shuffle": Method(about="draws lots among equals", policy="heuristics:TieShuffle", floor="kept without trying"),
    "objective": Method(about="most owed first", policy="heuristics:ByDeficit", floor="ignored"),
    "fairco": Method(about="controller on exposure per merit", policy="heuristics:FairCo", floor="ignored"),
    "exposure": Method(
        about="exposure proportional to merit, in expectation", policy="programs:ExposureProgram", floor="ignored"
    ),
    "fair-topk": Method(
        about="FA*IR: enough of a group in every prefix",
        policy="heuristics:FairTopK",
        floor="ignored",
        needs_groups=True,
    ),
}


def find_method(name: str) -> Method:
    """The method of that name."""
    if name not in METHODS:
        close = get_close_matches(name, METHODS, n=1)
        raise ParameterError(
            f"there is no method called {name}",
            hint=f"did you mean {close[0]}?" if close else f"choose from {', '.join(METHODS)}",
        )
    return METHODS[name]
