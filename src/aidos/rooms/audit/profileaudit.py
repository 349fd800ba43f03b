"""The parameters of an audit: how a profile is learned, and how sure the verdict has to be.

Both methods of the paper are there. By R-precision, learning mix and concentration as well (LTP-EM) is the better one
wherever we looked: .99 against .98 on the surrogate engine, .94 against .92 where it personalises three queries of ten,
and .89 against .35 in the small sample world, whose lists are noisy. Inference (LTP-INF) takes a concentration of 10
for granted, and so any small change for personalisation; it is the faster one.

Nothing is promised and no noise is drawn: an audit tells the truth about one account, to its owner. The seed is part of
it, and the same pairs give the same finding.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Gt, Lt

from aidos.core.checks import check_parameters
from aidos.core.limits import LONG_SEED, SHOWN
from aidos.rooms.audit.conclusion import Grant

if TYPE_CHECKING:
    from aidos.rooms.audit.auditing import DescribedPairs
    from aidos.rooms.audit.findings import AuditFinding

__all__ = ["NAME", "ProfileAudit"]

NAME = "profile-audit"
"""What recipes call it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileAudit:
    """Learn which topics a search service lifts or sinks for one account, from lists with and without it."""

    method: Literal["inference", "learning"] = "learning"
    """How weights are learned: with mix and concentration learned too (LTP-EM), or with both given (LTP-INF)."""

    level: Annotated[float, Gt(0), Lt(1)] = 0.05
    """Rate of false alarms that the verdict keeps, and of false discoveries among the topics found."""

    confidence: Annotated[float, Gt(0), Lt(1)] = 0.95
    """How surely the intervals hold what they are about."""

    evidence: Annotated[int, Ge(0), SHOWN] = 10
    """Queries that are shown as evidence, at most."""

    seed: Annotated[int, Ge(0), LONG_SEED] = 0
    """What the tests start from; the same seed gives the same finding."""

    granted: tuple[Grant, ...] = ()
    """What you vouch for where lists do not say it: the same place, an order by coin toss (order), the same variant
    of the service (bucket); may be repeated."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, pairs: DescribedPairs) -> AuditFinding:
        """Learn, test and explain."""
        from aidos.rooms.audit.auditing import run_audit

        return run_audit(self, pairs)

    def recipe(self) -> str:
        """The recipe that audits alike, with every parameter written out."""
        parameters = (f"{name} = {json.dumps(value)}" for name, value in asdict(self).items())
        return "\n".join([f"mechanism = {json.dumps(NAME)}", "items = []", "", "[parameters]", *parameters]) + "\n"
