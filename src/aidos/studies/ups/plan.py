"""What the experiment on profile generalisation tries: which parts, which algorithms, which sizes and limits.

speed          iterations and time by the size of the seed, and by that of the taxonomy and the profile
limits         what is left of power and risk under each limit of risk
quality        the power of each algorithm beside the best there is, on small seeds
eavesdropper   what somebody guesses who sees one query, or all of them, with and without the session's memory
reranking      what profiles do to lists of results, by how ambiguous the query is
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args

from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import SEED
from aidos.errors import ParameterError
from aidos.jobs.options import Drawn
from aidos.rooms.shield.profile.generalisation import Algorithm

__all__ = ["ALGORITHMS", "PARTS", "PLAIN_RISE", "Part", "UpsExperiment"]

Part: TypeAlias = Literal["speed", "limits", "quality", "eavesdropper", "reranking"]
"""One of the five questions."""
PARTS: tuple[Part, ...] = get_args(Part)
ALGORITHMS: tuple[Algorithm, ...] = ("ratio", "greedy-il", "greedy-dp")
"""What is compared, the default first."""
FEWEST_TOPICS, FEWEST_ALTOGETHER = 3, 200
PLAIN_RISE = 100
"""Seeds larger than this are not given to GreedyDP, whose cost rises with about the cube of their size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsExperiment(Drawn):
    """What is tried."""

    parts: tuple[Part, ...] = PARTS
    """Questions that are asked."""
    limits: tuple[Annotated[float, Ge(0), Le(1)], ...] = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
    """Limits of risk (delta) that are tried."""
    session_limits: tuple[Annotated[float, Ge(0), Le(1)], ...] = (0.05, 0.1, 0.2, 0.5)
    """Limits that are tried over many sessions."""
    seed_sizes: tuple[int, ...] = (10, 30, 100, 300, 1_000, 3_000, 10_000)
    """Topics of a seed; those that a taxonomy is too small for are left out there."""
    taxonomy_sizes: tuple[int, ...] = (1_000, 3_000, 10_000, 30_000, 100_000)
    """Topics of made-up taxonomies, a third of whose leaves are held, for queries of 20 topics."""
    trials: Annotated[int, Ge(2)] = 15
    """Seeds of each size that are timed."""
    small_seeds: Annotated[int, Ge(10)] = 100
    """Seeds, for each kind of tree, of which the best profile is found by the exact search."""
    searchers: Annotated[int, Ge(2)] = 500
    """People of the sample world who are looked at, as far as there are so many."""
    queries_per_searcher: Annotated[int, Ge(1)] = 20
    """Queries of each that are looked at, the first ones after the profile was built."""
    made_up: Annotated[int, Ge(2)] = 40
    """People on random trees whose sessions are played."""
    small_people: Annotated[int, Ge(2)] = 40
    """People on small trees who are eavesdropped on, exactly."""
    watched_queries: tuple[Annotated[int, Ge(1)], ...] = (1, 20, 100)
    """After how many of their queries it is looked at what is known of them."""
    watched: Annotated[int, Ge(0)] = 10
    """People of the sample world who are eavesdropped on, by a walk."""
    walk: Annotated[int, Ge(10)] = 600
    """Steps of a walk."""
    results: Annotated[int, Ge(5)] = 50
    """Results of a query that are put in order."""
    usual_limit: Annotated[float, Gt(0), Le(1)] = 0.1
    """The limit that findings are read at."""
    seed: Annotated[int, Ge(0), SEED] = 7

    def __post_init__(self) -> None:
        if unknown := [part for part in self.parts if part not in PARTS]:
            raise ParameterError(f"there is no part {unknown[0]!r}", hint=f"parts are {', '.join(PARTS)}")
        check_parameters(self)
        if not self.parts:
            raise ParameterError("UpsExperiment: ask for at least one part")
        if min(self.seed_sizes, default=0) < FEWEST_TOPICS or min(self.taxonomy_sizes, default=0) < FEWEST_ALTOGETHER:
            raise ParameterError(
                f"UpsExperiment: name sizes; seeds have at least {FEWEST_TOPICS} topics, taxonomies {FEWEST_ALTOGETHER}"
            )
        for limits in (self.limits, self.session_limits):
            if self.usual_limit not in limits:
                raise ParameterError(f"UpsExperiment: the usual limit {self.usual_limit:g} must be one of the limits")

    def identity(self) -> dict[str, Any]:
        """What results depend on: all but which of the parts are asked for."""
        return {name: value for name, value in asdict(self).items() if name != "parts"}
