"""The parameters of mediator accounts; `aidos.rooms.shield.mediator.assignment` says what they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.noise import Noise
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.rooms.shield.mediator.assignment import Assignment
    from aidos.rooms.shield.mediator.objects import Objects

__all__ = ["MediatorAccounts", "SharedAccounts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAccounts:
    """The accounts, however queries get to them."""

    accounts: Annotated[int, Ge(1)] | None = None
    """How many accounts there are (|M|); as many as people if unset."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MediatorAccounts(SharedAccounts):
    """Spread the queries of many people over shared accounts, so that no account looks like a person."""

    alpha: Annotated[float, Ge(0), Le(1)] = 0.3
    """Chance that an object is scattered at random: 0 keeps topics together, 1 is all random; may differ by object."""

    similarity: Literal["same-topic", "cosine", "jaccard"] = "same-topic"
    """What fits together: the same person and topic, or the cosine or weighted Jaccard of topic vectors of anybody."""

    heuristic: Literal["original", "commons"] = "original"
    """How accounts are chosen: as in the thesis, or with commons for what is scattered (same-topic only)."""

    order: Literal["arrival", "shuffled"] = "arrival"
    """Assign objects as they arrive (online), or in random order where all are known before (offline)."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.heuristic == "commons" and self.similarity != "same-topic":
            raise ParameterError(
                f"MediatorAccounts: the heuristic commons needs the similarity same-topic, got {self.similarity}",
                hint="take the original heuristic for topic vectors",
            )

    @property
    def promise(self) -> NoGuarantee:
        """None: how well people are hidden in accounts is measured, not proven."""
        return NoGuarantee(
            "how well people are hidden among mediator accounts is measured on the data and proven for nobody; "
            "a rare or focused interest stays visible in whichever account it is"
        )

    def run(self, data: Objects, noise: Noise) -> Assignment:
        """Assign all objects, from empty accounts."""
        from aidos.rooms.shield.mediator.assignment import assign_objects

        return assign_objects(data, self, noise)
