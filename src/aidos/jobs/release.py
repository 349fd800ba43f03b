"""The one door through which every release goes: promise, charge, run, wrap.

The order matters. The promise is known before data are touched, the ledger is charged before the mechanism runs (a
crash in between costs budget, never privacy), and a seed takes the promise away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from aidos.account.ledger import Ledger
from aidos.core.guarantee import Guarantee, KAnonymity, NoGuarantee, QualityFloor, statement
from aidos.core.mechanism import Mechanism, PublicFacts
from aidos.core.noise import Noise
from aidos.jobs.answer import Release

__all__ = ["Released", "earned", "release"]

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Released(Release, Generic[Out]):
    """What a mechanism gave, with what is promised about it."""

    value: Out

    def facts(self) -> Mapping[str, object]:
        """The promise, and where the noise came from."""
        return {"statement": statement(self.guarantee), "noise": self.noise_source}


def release(
    mechanism: Mechanism[In, Out],
    data: In,
    *,
    ledger: Ledger | None,
    noise: Noise | None = None,
    facts: PublicFacts | None = None,
) -> Released[Out]:
    """Make a release. ``ledger=None`` is for synthetic data: nothing is charged, and nothing is promised."""
    noise = noise or Noise()
    guarantee = mechanism.guarantee(facts or PublicFacts())
    if ledger is not None:
        ledger.charge(guarantee)
    return Released(
        value=mechanism.run(data, noise),
        guarantee=earned(guarantee, repeatable=noise.is_repeatable, charged=ledger is not None),
        mechanism=mechanism,
        noise_source=noise.source,
    )


def earned(guarantee: Guarantee, *, repeatable: bool, charged: bool) -> Guarantee:
    """What is left of a mechanism's promise: nothing when the noise can be repeated, or when no ledger was charged."""
    # None of them is about noise or about a budget, and all say what they are worth.
    if isinstance(guarantee, QualityFloor | KAnonymity | NoGuarantee):
        return guarantee
    if repeatable:
        return NoGuarantee("the noise came from a seed, and whoever knows the seed can subtract it")
    if not charged:
        return NoGuarantee("no ledger was charged, so nothing bounds what was released before")
    return guarantee
