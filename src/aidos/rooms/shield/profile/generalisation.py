"""Profile generalisation (UPS): whether to send a profile with a query, and which (after Shou et al. 2014).

A query that is already distinct, DP(q,R) >= mu, gets no profile, and neither does one that gains nothing by it. What
may leave the machine are names of topics; supports stay at home, because the re-ranking happens there.

The default, ``unmarked``, decides as if nothing that is marked as sensitive were held. What is sent is a function of
the query, the public taxonomy and the documents at unmarked topics, so that two profiles with the same unmarked part
send the same with every sequence of queries: an observer who knows the algorithm and sees all of it learns of the
marked part what queries and unmarked interests tell, and no more. How much a mark weighs does not count.

The paper's rule (``paper``, and ``excess`` with a form of risk that is monotone) prunes as little as a limit of risk
asks for. That little betrays: a topic that ends a profile and that the query did not ask for has something marked below
it. Its limit is about an observer who knows the public taxonomy alone.

Not covered by either: the query itself, which goes out as it is; and this is not differential privacy: there is no
randomness.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.topictree import TopicTree
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.core.profile import SessionMemory
    from aidos.rooms.shield.profile.decision import Decision
    from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile
    from aidos.rooms.shield.profile.seed import Hits

__all__ = ["LIMIT_MODEL", "THREAT_MODEL", "USUAL_LIMIT", "Algorithm", "ProfileGeneralisation", "QueryAndProfile"]

THREAT_MODEL = (
    "what is sent is decided as if nothing that you marked were there: whoever knows how aidos decides, and sees all "
    "that is sent, learns of marked topics what your queries and your other interests tell, and no more; the query "
    "itself is not protected, many queries tell more, and this is not differential privacy"
)
"""What is covered and what is not, in a sentence."""
LIMIT_MODEL = (
    "the risk limit is about an observer who knows the public taxonomy alone, and holds for one query, or with the "
    "memory of a session for all its profiles together; who knows how aidos prunes reads from a wide topic that "
    "something marked is below it; the query itself is not protected, many queries tell more, and this is not "
    "differential privacy"
)
"""The same where a profile is pruned to a limit of risk."""
Algorithm: TypeAlias = Literal["ratio", "greedy-il", "greedy-dp", "exact"]
"""How a seed is pruned."""
USUAL_LIMIT = 0.1
"""The limit of risk unless another is given."""


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

    def of_unmarked(self) -> QueryAndProfile:
        """All that a decision may depend on that is not to betray what is marked."""
        return replace(self, held=self.layer.unmarked, layer=self.layer.of_unmarked(), memory=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileGeneralisation:
    """Decide for each query which part of a profile is worth showing, without betraying what is marked as sensitive."""

    risk: Literal["unmarked", "excess", "paper"] = "unmarked"
    """unmarked: as if nothing marked were held; paper and excess: pruned to a limit, betraying that more is below."""

    distinct_from: Annotated[float, Ge(0), Le(1)] = 0.82
    """Discriminating power from which a query needs no profile (mu); ambiguous queries have 0.44 and less."""

    risk_limit: Annotated[float, Ge(0), Le(1)] | None = None
    """How much the profile may give away by paper or excess (delta), from 0 to 1; 0.1 if unset."""

    algorithm: Algorithm | None = None
    """How paper and excess prune: ratio (good, fast; if unset), greedy-il, greedy-dp (the paper's), exact (small)."""

    def __post_init__(self) -> None:
        check_parameters(self)
        given = [name for name in ("risk_limit", "algorithm") if getattr(self, name) is not None]
        if self.is_blind and given:
            raise ParameterError(
                f"{given[0]} is for a profile that is pruned to a limit, and unmarked topics are all that is sent",
                hint="leave it out, or take risk excess (or paper) with it, which is weaker",
            )

    @property
    def is_blind(self) -> bool:
        """Whether what is sent is decided without a look at what is marked."""
        return self.risk == "unmarked"

    @property
    def limit(self) -> float:
        """The limit of risk where one counts."""
        return USUAL_LIMIT if self.risk_limit is None else self.risk_limit

    @property
    def threat_model(self) -> str:
        """What is covered and what is not, in a sentence."""
        return THREAT_MODEL if self.is_blind else LIMIT_MODEL

    def run(self, data: QueryAndProfile) -> Decision:
        """Decide about one query; the same query and profile always get the same answer."""
        from aidos.rooms.shield.profile.decision import decide

        return decide(self, data)
