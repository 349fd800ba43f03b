"""What an eavesdropper makes of the profiles sent: one query at a time, and a month of them.

She knows the taxonomy, sees each query with the profile sent, and guesses which of the sensitive topics the searcher
holds (`aidos.rooms.shield.profile.adversary`). One session is one query of which the seed has something to hide. Over
many sessions she keeps all that she saw; the month is played without a memory of what was hidden, as in the paper, and
with it. Without any profile she still has the queries: what she guesses then, generalisation does not change.

The people are those of the sample world, who search for little that is sensitive, and made-up ones on random trees, who
search for much of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.profile import SessionMemory
from aidos.core.progress import SILENT, Progress
from aidos.core.topictree import TopicTree
from aidos.errors import InputError
from aidos.rooms.shield.profile.adversary import Eavesdropper, Guessed, Sight, guess, reappeared
from aidos.rooms.shield.profile.decision import ALGORITHMS as PRUNES
from aidos.rooms.shield.profile.decision import Decision, decide
from aidos.rooms.shield.profile.generalisation import Algorithm, ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.holder import HeldProfile
from aidos.rooms.shield.profile.prune import stand
from aidos.rooms.shield.profile.requirement import CostLayer
from aidos.rooms.shield.profile.rerank import leaves_of
from aidos.rooms.shield.profile.seed import Hits, SeedProfile
from aidos.studies.ups.cases import Query, draw_case, draw_query, random_tree
from aidos.studies.ups.plan import ALGORITHMS, UpsExperiment
from aidos.studies.ups.searchers import Society

__all__ = [
    "NO_PROFILE",
    "SESSION_ALGORITHMS",
    "Watched",
    "made_up_people",
    "measure_one_session",
    "measure_sessions",
    "risky_seeds",
    "watched_searchers",
]

Places: TypeAlias = NDArray[np.int32]
NO_PROFILE = "no profile"
"""What she guesses from queries alone."""
SESSION_ALGORITHMS: tuple[Algorithm, ...] = ("ratio", "greedy-il")
"""Played over many sessions; GreedyDP walks the way of GreedyIL."""
TINY = 1e-9
MADE_UP_TOPICS, MADE_UP_HELD, ASKED = 120, 0.3, 8
"""Of people on random trees: topics of the tree, share held, topics of a query."""
MOST_SINGLE = 5
"""Queries of one person that are looked at one by one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Watched:
    """Somebody who is eavesdropped on."""

    tree: TopicTree
    candidates: Places
    """Sensitive topics that the eavesdropper wonders about: public, held or not."""
    held: HeldProfile
    layer: CostLayer
    queries: Sequence[Hits]
    """T(q) of each of her queries, in order."""

    def risky(self) -> Iterator[tuple[Hits, SeedProfile]]:
        """Her queries that have something to hide, with their seeds."""
        for hits in self.queries:
            seed = SeedProfile.of(self.tree, self.held, self.layer, hits)
            if not seed.is_empty and _risk(seed) > TINY:
                yield hits, seed

    def guessed(self, sights: Sequence[Sight]) -> Guessed:
        """What is guessed from what was seen of her."""
        beliefs = Eavesdropper().beliefs(self.tree, sights, self.candidates)
        seen = np.concatenate([np.zeros(0, np.int32), *(sight.shown for sight in sights)])
        return guess(beliefs, self.held.supports[self.candidates] > 0, np.isin(self.candidates, seen))


def watched_searchers(society: Society) -> Iterator[Watched]:
    """People of the world who hold something sensitive."""
    for searcher in society.searchers:
        person = society.person(searcher)
        if person.layer.total > 0:
            yield Watched(
                tree=society.tree,
                candidates=society.sensitive,
                held=person.held,
                layer=person.layer,
                queries=[query.hits for query in searcher.queries],
            )


def made_up_people(asked: UpsExperiment) -> Iterator[Watched]:
    """People on random trees who hold and search for much that is sensitive: a hard case for the memory."""
    stream = np.random.default_rng([asked.seed, 5])
    for _ in range(asked.made_up):
        tree = random_tree(MADE_UP_TOPICS, stream)
        case = draw_case(tree, stream, asked=ASKED, held=MADE_UP_HELD)
        queries = [draw_query(tree, stream, asked=ASKED) for _ in range(asked.queries_per_searcher)]
        yield Watched(tree=tree, candidates=case.sensitive, held=case.held, layer=case.layer, queries=queries)


def risky_seeds(people: Iterable[Watched]) -> Iterator[SeedProfile]:
    """Seeds of all queries that have something to hide."""
    for person in people:
        for _, seed in person.risky():
            yield seed


def measure_one_session(
    asked: UpsExperiment, sources: Mapping[str, Iterable[Watched]], *, progress: Progress = SILENT
) -> pa.Table:
    """A row for each query with something to hide, algorithm and limit, and one for the query alone."""
    rows: list[dict[str, Any]] = []
    with progress.task("eavesdropping on one query", total=None, unit="queries") as task:
        for source, people in sources.items():
            for number, person in enumerate(people):
                for query, (hits, seed) in enumerate(islice(person.risky(), MOST_SINGLE)):
                    about = {"people": source, "person": number, "query": query}
                    for name, limit, shown in _shown(seed, asked.limits):
                        told = person.guessed([Sight(hits=hits, shown=shown)])
                        rows.append({**about, "algorithm": name, "limit": limit, **asdict(told)})
                    task.advance(1)
    if not rows:
        raise InputError("no query is about a sensitive topic of its searcher", hint="take more people (--size)")
    return pa.Table.from_pylist(rows)


def measure_sessions(
    asked: UpsExperiment, sources: Mapping[str, Iterable[Watched]], *, progress: Progress = SILENT
) -> pa.Table:
    """A row for each person with something to hide, algorithm, limit, and with and without the memory."""
    rows: list[dict[str, Any]] = []
    with progress.task("eavesdropping on a month", total=None, unit="people") as task:
        for source, people in sources.items():
            for number, person in enumerate(people):
                about = {"people": source, "person": number}
                rows += [{**about, **row} for row in _months(asked, person)]
                task.advance(1)
    if not rows:
        raise InputError("nobody holds a sensitive topic", hint="take more people (--size)")
    return pa.Table.from_pylist(rows)


def _months(asked: UpsExperiment, person: Watched) -> Iterator[dict[str, Any]]:
    alone = person.guessed([Sight(hits=hits) for hits in person.queries])
    nothing = {"limit": 0.0, "memory": False, "reappeared": 0, "sent": 0, "power": 0.0, "together": 0.0}
    yield {"algorithm": NO_PROFILE, **nothing, **asdict(alone)}
    for name in SESSION_ALGORITHMS:
        for limit in asked.session_limits:
            for memory in (False, True):
                month = _Month.played(person, name, limit, memory=memory)
                yield {"algorithm": name, "limit": limit, "memory": memory, **month.row(person)}


@dataclass(frozen=True, slots=True, eq=False)
class _Month:
    """All decisions about one person's queries, in order."""

    decisions: Sequence[Decision]

    @classmethod
    def played(cls, person: Watched, name: Algorithm, limit: float, *, memory: bool) -> _Month:
        mechanism = ProfileGeneralisation(algorithm=name, risk_limit=limit)
        remembered, decisions = SessionMemory(), list[Decision]()
        for hits in person.queries:
            data = QueryAndProfile(
                tree=person.tree,
                held=person.held,
                layer=person.layer,
                hits=hits,
                memory=remembered if memory else None,
            )
            decisions.append(decide(mechanism, data))
            remembered = decisions[-1].remembered(remembered)
        return cls(decisions)

    def row(self, person: Watched) -> dict[str, Any]:
        shown = [one.sent for one in self.decisions]
        told = person.guessed([Sight(hits=hits, shown=seen) for hits, seen in zip(person.queries, shown, strict=True)])
        # Where no profile is weighed up at all (a distinct query) nothing was hidden either.
        hidden = [[person.tree.places[topic] for topic in one.hidden] for one in self.decisions]
        seeds = [np.union1d(some, seen).astype(np.int32) for some, seen in zip(hidden, shown, strict=True)]
        powers = [one.after.power for one in self.decisions if one.outcome in ("sent", "all-hidden")]
        return {
            "reappeared": len(reappeared(seeds, shown)),
            "sent": sum(one.is_sent for one in self.decisions),
            "power": float(np.mean(powers)) if powers else float("nan"),
            "together": _union_risk(person, shown),
            **asdict(told),
        }


def _shown(seed: SeedProfile, limits: Sequence[float]) -> Iterator[tuple[str, float, Places]]:
    """What is sent under each algorithm and limit; a bare root is not sent."""
    yield NO_PROFILE, 0.0, np.zeros(0, np.int32)
    for name in ALGORITHMS:
        for limit in limits:
            found = PRUNES[name](seed, limit, "excess")
            yield name, limit, np.zeros(0, np.int32) if found.is_root else found.places(seed)


def _union_risk(person: Watched, shown: Sequence[Places]) -> float:
    """The risk of all topics that were shown, as if they had been sent at once."""
    leaves = leaves_of(person.tree, np.unique(np.concatenate([np.zeros(1, np.int32), *shown])))
    union = Query(places=leaves, scores=np.ones(len(leaves)))
    return _risk(SeedProfile.of(person.tree, person.held, person.layer, union))


def _risk(seed: SeedProfile) -> float:
    return stand(seed, np.ones(len(seed), dtype=np.bool_)).risk
