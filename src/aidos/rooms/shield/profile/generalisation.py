"""Profile generalisation (UPS): whether to send a profile with a query, and which (Shou et al. 2014).

A query that is already distinct, DP(q,R) >= mu, gets no profile: nothing would be gained. Otherwise the seed profile is
pruned until its risk is within the limit delta, losing as little discriminating power as the algorithm can manage. What
may leave the machine are names of topics; supports stay at home, because the re-ranking happens there.

Threat model: an eavesdropper, or the search service, sees one query with the profile sent and knows the public
taxonomy. Not covered: the query itself, which goes out as it is; repeated sessions (see
`aidos.rooms.shield.profile.decision`); and this is not differential privacy: there is no randomness, and no bound on
what somebody learns who knows more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.topictree import TopicTree

if TYPE_CHECKING:
    from aidos.core.profile import SessionMemory
    from aidos.rooms.shield.profile.decision import Decision
    from aidos.rooms.shield.profile.holder import HeldProfile
    from aidos.rooms.shield.profile.requirement import CostLayer
    from aidos.rooms.shield.profile.seed import Hits

__all__ = ["THREAT_MODEL", "Algorithm", "ProfileGeneralisation", "QueryAndProfile"]

THREAT_MODEL = (
    "the risk limit is about an observer who knows the public taxonomy alone, and holds for one query, or with the "
    "memory of a session for all its profiles together; the query itself is not protected, many queries tell more, "
    "and this is not differential privacy"
)
"""What is covered and what is not, in a sentence."""
Algorithm: TypeAlias = Literal["ratio", "greedy-il", "greedy-dp", "exact"]
"""How a seed is pruned."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryAndProfile:
    """All that a decision depends on."""

    tree: TopicTree
    held: HeldProfile = field(repr=False)
    layer: CostLayer = field(repr=False)
    """The cost layer of the held profile and the searcher's requirement."""
    hits: Hits
    """T(q) with relevances."""
    memory: SessionMemory | None = None
    """What was hidden and shown before in the session; None to decide each query for itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileGeneralisation:
    """Decide for each query which generalised profile is worth showing, within a limit of risk."""

    risk_limit: Annotated[float, Ge(0), Le(1)] = 0.1
    """How much of what is sensitive the profile may give away (delta): 0 nothing beyond what is expected, 1 all."""

    distinct_from: Annotated[float, Ge(0), Le(1)] = 0.82
    """Discriminating power from which a query needs no profile (mu); ambiguous queries have 0.44 and less."""

    algorithm: Algorithm = "ratio"
    """How the profile is pruned: ratio (good and fast), greedy-il and greedy-dp (the paper's), exact (small only)."""

    risk: Literal["excess", "paper"] = "excess"
    """What risk means: beyond what the taxonomy alone tells, or the paper's form, kept for comparison."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, data: QueryAndProfile) -> Decision:
        """Decide about one query; the same query and profile always get the same answer."""
        from aidos.rooms.shield.profile.decision import decide

        return decide(self, data)
