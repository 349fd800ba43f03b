"""The one door through which every release goes: promise, charge, run, wrap.

The order matters. The promise is known before data are touched, the ledger is charged before the mechanism runs (a
crash in between costs budget, never privacy), and a seed takes the promise away.
"""

from __future__ import annotations

from typing import TypeVar

from aidos.account.ledger import Ledger
from aidos.core.guarantee import Guarantee, KAnonymity, NoGuarantee, QualityFloor
from aidos.core.mechanism import Mechanism, PublicFacts, Release
from aidos.core.noise import Noise

__all__ = ["earned", "release"]

In = TypeVar("In")
Out = TypeVar("Out")


def release(
    mechanism: Mechanism[In, Out],
    data: In,
    *,
    ledger: Ledger | None,
    noise: Noise | None = None,
    facts: PublicFacts | None = None,
) -> Release[Out]:
    """Make a release. ``ledger=None`` is for synthetic data: nothing is charged, and nothing is promised."""
    noise = noise or Noise()
    guarantee = mechanism.guarantee(facts or PublicFacts())
    if ledger is not None:
        ledger.charge(guarantee)
    return Release(
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
