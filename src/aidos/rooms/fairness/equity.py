"""Equity of attention: over time, every subject's attention in proportion to its relevance (Biega et al. 2018).

One ranking at a time is reordered a little, so that accumulated attention approaches accumulated relevance while every
single ranking keeps its quality. The answer to each ranking is exact (`solver`).

Which cost is minimised decides how the sequence ends. The thesis takes the absolute difference; the squared one is
sometimes better and sometimes worse. The recommended ``adaptive`` cost lies between them: squared for balances up to a
width, absolute beyond it, with a width that grows with the number of rankings per account. It is the only one of the
three that provably approaches the least unfairness that any method could reach (`aidos.rooms.fairness.bounds`, and the
theory card).

Not promised: that one ranking is fair, that subjects outside the ranking are reached, or anything about privacy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, sqrt
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.core.guarantee import QualityFloor
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.ranking import Ranking
from aidos.errors import ParameterError
from aidos.model.attention import find_attention
from aidos.rooms.fairness.accounts import MemoryKeeper
from aidos.rooms.fairness.rankings import Ints, Reranked, Standing, SubjectRanking, quality
from aidos.rooms.fairness.reranker import Reranker

__all__ = ["Attending", "EquityOfAttention"]

MOST_POSITIONS = 62
"""Positions are the bits of a number; long before that the integer program takes minutes."""
MOST_POSITIONS_FOR_ACTORS = 8
"""The same where subjects share accounts: an account has a move for every set of positions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attending:
    """How attention and quality are measured."""

    attention: str = "geometric:share=0.5,positions=5"
    """How attention falls with the position: geometric, singular, dcg, rbp, cascade or measured, with its numbers."""

    gain: Literal["paper", "linear", "exponential-1", "exponential-5"] = "paper"
    """What relevance is worth in DCG: paper (2^r - 1, r summing to 1), linear, or 2^r - 1 on a scale to 1 or to 5."""

    level: Literal["subject", "actor"] = "subject"
    """Whose account is kept: each subject's own, or that of the actor behind it (host, brand, domain)."""

    half_life: Annotated[float, Gt(0)] | None = None
    """After so many rankings the past counts half; it never fades if unset."""

    short_rankings: Literal["refuse", "share"] = "refuse"
    """A ranking with fewer subjects than positions with attention: refuse it, or share attention among those there."""

    def __post_init__(self) -> None:
        check_parameters(self)
        model = find_attention(self.attention)
        most = MOST_POSITIONS_FOR_ACTORS if self.level == "actor" else MOST_POSITIONS
        if model.positions > most:
            raise ParameterError(
                f"{type(self).__name__}: with accounts of {self.level}s attention ends after at most {most} positions, "
                f"got {model.positions}",
                hint="what the positions far down get is next to nothing: let it end earlier",
            )
        object.__setattr__(self, "attention", str(model))


@dataclass(frozen=True, slots=True, kw_only=True)
class EquityOfAttention(Attending):
    """Share attention by relevance over time, and keep every single ranking good."""

    quality_floor: Annotated[float, Ge(0), Le(1)] = 0.8
    """Least NDCG-quality of every ranking (theta): 1 allows reordering among equals alone, 0 anything."""

    unfairness_ceiling: Annotated[float, Ge(0)] | None = None
    """Reorder no more than keeps accumulated unfairness at or below this, while it can; no ceiling if unset."""

    objective: Literal["adaptive", "absolute", "squared"] = "adaptive"
    """What is minimised in each step: adaptive (recommended), absolute (the thesis) or squared differences."""

    searcher_floor: Annotated[float, Ge(0), Le(1)] | None = None
    """Least average quality over the rankings of any one searcher, besides the floor of each ranking."""

    def guarantee(self, facts: PublicFacts) -> QualityFloor:  # noqa: ARG002 - the floor holds for any data
        """The floor, which holds for every single ranking."""
        return QualityFloor(measure=f"NDCG@{find_attention(self.attention).positions}", at_least=self.quality_floor)

    def run(self, data: Iterable[SubjectRanking | Ranking], noise: Noise) -> list[Reranked]:  # noqa: ARG002
        """Re-rank a sequence from empty accounts; nothing here is random."""
        reranker = self.reranker()
        return [reranker.rank(ranking) for ranking in data]

    def reranker(self) -> Reranker:
        """A re-ranker that counts in memory, from empty accounts; accounts that last are kept by one on a store."""
        from aidos.rooms.fairness.reranker import Reranker

        return Reranker(self, MemoryKeeper(half_life=self.half_life))

    def place(self, standing: Standing) -> Ints:
        """Who gets the positions with attention: the exact answer for one ranking (see `Policy`)."""
        from aidos.rooms.fairness.solver import best_quality, least_cost

        width = self.width(standing)
        if self.unfairness_ceiling is not None:
            placed = best_quality(standing, 0.0, self.unfairness_ceiling - standing.unfairness)
            if placed is not None and quality(standing, placed) >= standing.quality_floor:
                return placed
        return least_cost(standing, width)

    def width(self, standing: Standing) -> float:
        """How far from balance the cost is squared before it is absolute."""
        match self.objective:
            case "absolute":
                return 0.0
            case "squared":
                return inf
            case "adaptive":
                spread = float(np.sqrt(standing.attention @ standing.attention))
                per_account = (standing.rankings + 1) / max(standing.known, 1)
                # The fourth root did best wherever it was tried; the square root takes over where only it has a proof.
                return spread * max(sqrt(sqrt(per_account)), sqrt(per_account) / 4)
