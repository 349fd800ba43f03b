"""What the experiment on the audit of hidden profiles tries: which parts, and how much of each.

recovery        lists drawn from the model itself: is what was put in found again?
topics          the surrogate engine: which topics of a profile are found, by the number of topics and by the method
disambiguation  which of two lists is the personalised one, for queries that were not learned from
users           whose lists they are, by how many people could be meant and how many topics each of them has
sweep           how many topics to describe results by, where they are learned from the results
time            INF against EM, by queries and by topics of the profile
alarms          lists without any profile: how often personalisation is "detected" nevertheless
power           weak profiles: how often they are detected, by the number of queries, beside what was foretold
world           accounts of the sample world, audited by topics of the taxonomy
loop            audit, mark what is sensitive, shield, audit again
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args

from annotated_types import Ge, Gt, Lt

from aidos.core.checks import check_parameters
from aidos.core.limits import SEED
from aidos.errors import ParameterError
from aidos.jobs.options import Drawn
from aidos.world.size import NAMED_SIZES, World

__all__ = ["PARTS", "AuditExperiment", "Part", "usual_plan"]

Part: TypeAlias = Literal[
    "recovery", "topics", "disambiguation", "users", "sweep", "time", "alarms", "power", "world", "loop"
]
"""One of the ten questions."""
PARTS: tuple[Part, ...] = get_args(Part)
FEWEST_PEOPLE = 2
FEWEST_QUERIES = 20
FEW = {
    "samples": 2,
    "worlds": 1,
    "documents": 1500,
    "queries": 300,
    "profile_sizes": (1, 3, 5, 10),
    "group_sizes": (2, 3, 5),
    "group_topics": (1, 5),
    "described_by": (10, 50),
    "null_sets": 20,
    "effect_sets": 10,
    "query_numbers": (50, 200),
    "timed_queries": (100, 400),
    "repetitions": 2,
    "accounts": 2,
    "loop_accounts": 1,
    "loop_queries": 200,
}
"""How much is tried with the smallest world."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditExperiment(Drawn):
    """What is tried."""

    parts: tuple[Part, ...] = PARTS
    """Questions that are asked."""
    samples: Annotated[int, Ge(2)] = 10
    """Data sets of each kind that are drawn from the model."""
    worlds: Annotated[int, Ge(1)] = 3
    """Surrogate engines, each with documents of its own."""
    documents: Annotated[int, Ge(200)] = 4000
    """Documents of each surrogate engine."""
    queries: Annotated[int, Ge(50)] = 600
    """Queries that each account asks a surrogate engine."""
    learned_from: tuple[Annotated[float, Gt(0), Lt(1)], ...] = (0.8, 0.9)
    """Shares of them that profiles are learned from where lists are told apart; the others are told. People are told
    apart by the first."""
    profile_sizes: tuple[Annotated[int, Ge(1)], ...] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    """Topics of a profile."""
    group_sizes: tuple[Annotated[int, Ge(FEWEST_PEOPLE)], ...] = (2, 3, 4, 5, 6, 7, 8, 9, 10)
    """People among whom one is to be told."""
    group_topics: tuple[Annotated[int, Ge(1)], ...] = (1, 3, 5)
    """Topics that each of them has."""
    described_by: tuple[Annotated[int, Ge(2)], ...] = (5, 15, 30, 50, 100)
    """Topics that are learned from results, and describe them."""
    null_sets: Annotated[int, Ge(10)] = 200
    """Data sets without a profile, of each kind."""
    effect_sets: Annotated[int, Ge(5)] = 40
    """Data sets with a weak profile, for each number of queries."""
    query_numbers: tuple[Annotated[int, Ge(FEWEST_QUERIES)], ...] = (50, 100, 200, 400, 800)
    """Queries of an audit, for which it is asked how often it detects a weak profile."""
    timed_queries: tuple[Annotated[int, Ge(FEWEST_QUERIES)], ...] = (100, 200, 400, 850)
    """Queries of an audit that is timed."""
    repetitions: Annotated[int, Ge(1)] = 3
    """Data sets of each size that are timed."""
    accounts: Annotated[int, Ge(1)] = 6
    """Accounts of the sample world that are audited, as far as there are so many."""
    loop_accounts: Annotated[int, Ge(1)] = 3
    """Of these, accounts that are then shielded and audited again."""
    loop_queries: Annotated[int, Ge(50)] = 300
    """Queries that each of them asks, both times."""
    level: Annotated[float, Gt(0), Lt(1)] = 0.05
    """The rate of false alarms that verdicts promise."""
    seed: Annotated[int, Ge(0), SEED] = 7

    def __post_init__(self) -> None:
        if unknown := [part for part in self.parts if part not in PARTS]:
            raise ParameterError(f"there is no part {unknown[0]!r}", hint=f"parts are {', '.join(PARTS)}")
        check_parameters(self)
        told = ("parts", "profile_sizes", "group_sizes", "query_numbers", "timed_queries")
        wanted = (*told, "learned_from", "group_topics", "described_by")
        if empty := [name for name in wanted if not getattr(self, name)]:
            raise ParameterError(f"AuditExperiment: name at least one of {empty[0].replace('_', ' ')}")

    def identity(self) -> dict[str, Any]:
        """What results depend on: all but which of the parts are asked for."""
        return {name: value for name, value in asdict(self).items() if name != "parts"}


def usual_plan(world: World, parts: tuple[Part, ...] = PARTS, *, seed: int = 7) -> AuditExperiment:
    """The usual plan; with a tiny world less of everything is tried, enough to see that it works."""
    few: dict[str, Any] = FEW if world.people <= NAMED_SIZES["tiny"] else {}
    return AuditExperiment(parts=parts, seed=seed, **few)
