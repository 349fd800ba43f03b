"""The parameters of mediator accounts; `aidos.rooms.shield.mediator.assignment` says what they do."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.limits import CROWD
from aidos.core.noise import Noise
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.rooms.shield.mediator.assignment import Assignment
    from aidos.rooms.shield.mediator.objects import Objects

__all__ = ["Heuristic", "MediatorAccounts", "SharedAccounts"]

Heuristic = Literal["pools", "original", "commons"]
"""Ways to choose accounts."""

USUAL_ALPHA = 0.3
"""Of the heuristics that scatter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAccounts:
    """The accounts, however queries get to them."""

    accounts: Annotated[int, Ge(1), CROWD] | None = None
    """How many accounts there are (|M|), with pools at most; if unset as many as people, or as pools that fill."""

    people_per_pool: Annotated[int, Ge(2), CROWD] = 10
    """With pools: how many people there are at least in each account."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MediatorAccounts(SharedAccounts):
    """Spread the queries of many people over shared accounts, so that no account looks like a person."""

    alpha: Annotated[float, Ge(0), Le(1)] | None = None
    """Chance that an object is scattered at random: 0 keeps topics together; 0.3 if unset; pools scatter nothing."""

    similarity: Literal["same-topic", "cosine", "jaccard"] = "same-topic"
    """What fits together: the same person and topic, or the cosine or weighted Jaccard of topic vectors of anybody."""

    heuristic: Heuristic = "pools"
    """How accounts are chosen: by topic, whoever asks; as in the thesis; or with commons for what is scattered."""

    order: Literal["arrival", "shuffled"] = "arrival"
    """Assign objects as they arrive (online), or in random order where all are known before (offline)."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.heuristic != "original" and self.similarity != "same-topic":
            raise ParameterError(
                f"MediatorAccounts: the heuristic {self.heuristic} needs the similarity same-topic, "
                f"got {self.similarity}",
                hint="take the original heuristic for topic vectors",
            )
        if self.heuristic == "pools" and self.alpha is not None:
            raise ParameterError(
                "MediatorAccounts: alpha is of no use with pools, which scatter nothing",
                hint="leave alpha out, or name the heuristic original or commons",
            )

    @property
    def scattered(self) -> float:
        """The chance that an object is scattered."""
        if self.heuristic == "pools":
            return 0.0
        return USUAL_ALPHA if self.alpha is None else self.alpha

    def epsilon(self, accounts: int) -> float | None:
        """How much the account of one query can tell about who asked, given its topic and all before; None: no bound.

        With pools and topic vectors who asks plays no part. The original heuristic is local differential privacy with
        this epsilon for each query, and they add up. Commons depend on where a person has been.
        """
        if self.heuristic == "pools" or self.similarity != "same-topic" or accounts == 1:
            return 0.0
        if self.heuristic == "commons" or self.scattered == 0:
            return None
        return log(1 + (1 - self.scattered) * accounts / self.scattered)

    @property
    def promise(self) -> NoGuarantee:
        """None for the queries, which stand as they were typed; and what is proven of the accounts."""
        if self.heuristic == "pools":
            return NoGuarantee(
                "queries stand as they were typed and may name their authors; of the accounts it is proven that, given "
                f"the topics, they say nothing about who asked but one number for the whole log, and each is shared by "
                f"at least {self.people_per_pool} people"
            )
        return NoGuarantee(
            "how well people are hidden among mediator accounts is measured on the data and proven for nobody; "
            "a rare or focused interest stays visible in whichever account it is"
        )

    def run(self, data: Objects, noise: Noise) -> Assignment:
        """Assign all objects, from empty accounts."""
        from aidos.rooms.shield.mediator.assignment import assign_objects

        return assign_objects(data, self, noise)
