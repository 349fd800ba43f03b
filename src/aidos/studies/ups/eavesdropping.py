"""What an eavesdropper who knows the algorithm makes of the profiles sent, and what a session shows under a limit.

She sees every query with the profile sent, knows the rule, and guesses which sensitive topics the searcher holds
(`aidos.rooms.shield.profile.adversary`). On small trees her beliefs are exact: every set of interests is looked at, and
queries are drawn just as she thinks that people ask. People of the sample world or of a log ask as they do, and she
walks over what they could hold on the whole taxonomy. Beside each rule stand two who see no profile: one with the
queries alone, and one who is told all interests that are not marked as well, which is the most that the default rule
can give away.

Over many sessions the paper's rule is played without a memory of what was hidden, as in the paper, and with it.
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
from aidos.rooms.shield.profile.adversary import Observer, Rule, Sight, play, unasked
from aidos.rooms.shield.profile.decision import Decision, decide
from aidos.rooms.shield.profile.generalisation import Algorithm, ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.guessing import guess, reappeared
from aidos.rooms.shield.profile.prune import stand
from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile
from aidos.rooms.shield.profile.rerank import leaves_of
from aidos.rooms.shield.profile.seed import Hits, SeedProfile
from aidos.studies.shelf import Shelf, run_settings
from aidos.studies.ups.plan import UpsExperiment
from aidos.studies.ups.pruning import Query, draw_case, draw_query, random_tree
from aidos.studies.ups.searchers import Society

__all__ = [
    "EXCESS",
    "EXCESS_REMEMBERED",
    "PAPER",
    "QUERIES_ALONE",
    "RULES",
    "SESSION_ALGORITHMS",
    "UNMARKED",
    "UNMARKED_TOLD",
    "Watched",
    "made_up_people",
    "measure_observers",
    "measure_sessions",
    "risky_seeds",
    "seconds_of_watching",
    "small_world",
    "watched_searchers",
]

Places: TypeAlias = NDArray[np.int32]
Flags: TypeAlias = NDArray[np.bool_]
QUERIES_ALONE, UNMARKED_TOLD = "queries alone", "queries, and unmarked interests told"
"""What she guesses without any profile."""
UNMARKED, EXCESS, EXCESS_REMEMBERED, PAPER = "unmarked", "excess", "excess with memory", "paper"
RULES: Mapping[str, Rule] = {
    UNMARKED: Rule(),
    EXCESS: Rule(mechanism=ProfileGeneralisation(risk="excess")),
    EXCESS_REMEMBERED: Rule(mechanism=ProfileGeneralisation(risk="excess"), remembers=True),
    PAPER: Rule(mechanism=ProfileGeneralisation(risk="paper")),
}
"""Rules that she knows, at the usual limit where there is one."""
SESSION_ALGORITHMS: tuple[Algorithm, ...] = ("ratio", "greedy-il")
"""Played over many sessions; GreedyDP walks the way of GreedyIL."""
TINY = 1e-9
SECONDS_A_TREE, SECONDS_A_STEP = 0.012, 0.0001
"""For each query: of a person on a small tree, and of a step of a walk. Measured, and good for an estimate."""
MADE_UP_TOPICS, MADE_UP_HELD, ASKED = 120, 0.3, 8
"""Of people on random trees: topics of the tree, share held, topics of a query."""
SMALL_TOPICS, SMALL_LEAVES, SMALL_HELD, SMALL_MARKED = 15, (7, 9), 0.4, 0.4
"""Of trees on which beliefs are exact: topics, fewest and most leaves, shares of leaves held and marked."""
RAREST, COMMONEST = 0.002, 0.9
"""Bounds of how common an interest may be taken to be."""


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


def watched_searchers(society: Society) -> Iterator[Watched]:
    """People of a society who hold something sensitive."""
    for searcher in society.searchers:
        person = society.person(searcher)
        if person.layer.total > 0:
            yield Watched(
                tree=society.tree,
                candidates=person.sensitive,
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


def small_world(stream: np.random.Generator) -> tuple[Observer, Flags]:
    """A small tree with who watches it, and what somebody holds, a marked topic among it."""
    fewest, most = SMALL_LEAVES
    while True:
        tree = random_tree(SMALL_TOPICS, stream)
        leaves = np.flatnonzero(tree.sizes == 1).astype(np.int32)
        if not fewest <= len(leaves) <= most:
            continue
        marked = np.sort(stream.choice(leaves, int(SMALL_MARKED * len(leaves)), replace=False)).astype(np.int32)
        watching = Observer(tree=tree, topics=leaves, sensitive=marked, common=np.full(len(leaves), SMALL_HELD))
        held = watching.drawn(stream)
        if held[np.isin(leaves, marked)].any():
            return watching, held


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scene:
    """Who can be watched."""

    asked: UpsExperiment
    society: Society
    people: Sequence[Watched]
    """Those of the society who are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OneWatched:
    """Somebody who is watched: on a small tree of her own, or of the society."""

    on_tree: bool
    number: int

    @property
    def name(self) -> str:
        """What is found is kept under it."""
        return f"watched-{'tree' if self.on_tree else 'person'}-{self.number}"


def measure_observers(
    asked: UpsExperiment, society: Society, *, shelf: Shelf | None = None, progress: Progress = SILENT
) -> pa.Table:
    """A row for each person, number of queries, and rule that the observer knows; each person is kept on the shelf."""
    scene = _Scene(asked=asked, society=society, people=[*islice(watched_searchers(society), asked.watched)])
    found = run_settings(
        [
            _OneWatched(on_tree=on_tree, number=number)
            for on_tree, people in ((True, asked.small_people), (False, len(scene.people)))
            for number in range(people)
        ],
        _watch,
        scene,
        shelf=shelf or Shelf(None, ""),
        progress=progress,
        label="watching profiles",
        unit="people",
    )
    return pa.Table.from_pylist([row for table in found.values() for row in table.to_pylist()])


def _watch(scene: _Scene, one: _OneWatched) -> pa.Table:
    rows = _on_small_tree(scene.asked, one.number) if one.on_tree else _by_walking(scene, one.number)
    return pa.Table.from_pylist([*rows])


def _on_small_tree(asked: UpsExperiment, number: int) -> Iterator[dict[str, Any]]:
    stream = np.random.default_rng([asked.seed, 6, number])
    watching, held = small_world(stream)
    queries = watching.asking(held, max(asked.watched_queries), stream)
    truth, layer = watching.holding(held)
    for many in asked.watched_queries:
        about = {"people": "small trees", "person": number, "queries": many}
        for name, sights, rule, told in _ways(watching.tree, truth, layer, queries[:many]):
            beliefs = watching.exactly(sights, rule, watching.sensitive, told=held if name == UNMARKED_TOLD else None)
            yield {**about, "rule": name, **told, **_guessed(watching, sights, truth, beliefs)}


def _by_walking(scene: _Scene, number: int) -> Iterator[dict[str, Any]]:
    asked, person = scene.asked, scene.people[number]
    stream = np.random.default_rng([asked.seed, 7, number])
    watching = _watching(scene.society, person.candidates)
    about = {"people": scene.society.name, "person": number, "queries": asked.queries_per_searcher}
    for name, sights, rule, told in _ways(person.tree, person.held, person.layer, person.queries):
        if name != UNMARKED_TOLD:
            beliefs = watching.by_sampling(sights, rule, person.candidates, stream, steps=asked.walk)
            yield {**about, "rule": name, **told, **_guessed(watching, sights, person.held, beliefs)}


def seconds_of_watching(asked: UpsExperiment) -> float:
    """About how long `measure_observers` takes where a processor is free."""
    trees = asked.small_people * max(asked.watched_queries) * SECONDS_A_TREE
    return trees + asked.watched * asked.walk * asked.queries_per_searcher * SECONDS_A_STEP


def _ways(
    tree: TopicTree, held: HeldProfile, layer: CostLayer, queries: Sequence[Hits]
) -> Iterator[tuple[str, list[Sight], Rule | None, dict[str, Any]]]:
    """What is seen in each way, the rule that is known, and what the end of profiles betrays."""
    alone = [Sight(hits=hits) for hits in queries]
    for name in (QUERIES_ALONE, UNMARKED_TOLD):
        yield name, alone, None, {"sent": 0, "names": 0, "unasked": 0, "betrayed": 0}
    marked = np.flatnonzero(layer.sensitivities > 0)
    for name, rule in RULES.items():
        sent = play(rule, tree, held, layer, queries)
        sights = [Sight(hits=hits, shown=shown) for hits, shown in zip(queries, sent, strict=True)]
        ends = [place for sight in sights for place in unasked(tree, sight).tolist()]
        betrayed = sum(bool(((marked >= place) & (marked < place + tree.sizes[place])).any()) for place in ends)
        told = {
            "sent": sum(bool(len(sight.shown)) for sight in sights),
            "names": sum(max(len(sight.shown) - 1, 0) for sight in sights),
            "unasked": len(ends),
            "betrayed": betrayed,
        }
        yield name, sights, rule, told


def _guessed(watching: Observer, sights: Sequence[Sight], held: HeldProfile, beliefs: NDArray[np.float64]) -> Any:
    seen = np.concatenate([np.zeros(0, np.int32), *(sight.shown for sight in sights)])
    places = watching.sensitive
    return asdict(guess(beliefs, held.supports[places] > 0, np.isin(places, seen)))


def _watching(society: Society, sensitive: Places) -> Observer:
    """Who watches one of these people, and knows what counts as sensitive for her and how many people hold what."""
    counts = np.zeros(len(society.tree))
    for profile in society.population:
        counts[[society.tree.places[topic] for topic, support in profile.supports.items() if support > 0]] += 1
    topics = np.flatnonzero(counts).astype(np.int32)
    common = np.clip(counts[topics] / len(society.population), RAREST, COMMONEST)
    return Observer(tree=society.tree, topics=topics, sensitive=sensitive, common=common)


def measure_sessions(
    asked: UpsExperiment, sources: Mapping[str, Iterable[Watched]], *, progress: Progress = SILENT
) -> pa.Table:
    """A row for each person with something to hide, algorithm, limit, and with and without the memory."""
    rows: list[dict[str, Any]] = []
    everybody = [(source, number, person) for source, people in sources.items() for number, person in enumerate(people)]
    with progress.task("eavesdropping on a month", total=len(everybody), unit="people") as task:
        for source, number, person in everybody:
            rows += [{"people": source, "person": number, **row} for row in _months(asked, person)]
            task.advance(1)
    if not rows:
        raise InputError("nobody holds a sensitive topic", hint="take more people (--size)")
    return pa.Table.from_pylist(rows)


def _months(asked: UpsExperiment, person: Watched) -> Iterator[dict[str, Any]]:
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
        mechanism = ProfileGeneralisation(risk="excess", algorithm=name, risk_limit=limit)
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
        # Where no profile is weighed up at all (a distinct query) nothing was hidden either.
        hidden = [[person.tree.places[topic] for topic in one.hidden] for one in self.decisions]
        seeds = [np.union1d(some, seen).astype(np.int32) for some, seen in zip(hidden, shown, strict=True)]
        powers = [one.after.power for one in self.decisions if one.outcome in ("sent", "all-hidden")]
        return {
            "reappeared": len(reappeared(seeds, shown)),
            "sent": sum(one.is_sent for one in self.decisions),
            "power": float(np.mean(powers)) if powers else float("nan"),
            "together": _union_risk(person, shown),
        }


def _union_risk(person: Watched, shown: Sequence[Places]) -> float:
    """The risk of all topics that were shown, as if they had been sent at once."""
    leaves = leaves_of(person.tree, np.unique(np.concatenate([np.zeros(1, np.int32), *shown])))
    union = Query(places=leaves, scores=np.ones(len(leaves)))
    return _risk(SeedProfile.of(person.tree, person.held, person.layer, union))


def _risk(seed: SeedProfile) -> float:
    return stand(seed, np.ones(len(seed), dtype=np.bool_)).risk
