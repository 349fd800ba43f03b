"""What pruning a seed costs and keeps: iterations and times, power and risk under each limit, and the best there is.

Times are of one decision from the query's topics on: making the seed, and pruning it at the usual limit. The mapping of
query words to topics is measured by ``benchmarks/ups.py``, with real words. Whatever else the machine does is in the
times; medians over the trials take most of it out. GreedyDP is left out where seeds are larger than 100 topics.

Power and risk are those of spec and paper (excess risk), on seeds that give something away: where there is nothing to
hide nothing is pruned, and every algorithm is as good. For the quality, the exact search finds the best profile of
small seeds; an algorithm's share of its power is averaged over seeds that had to be pruned.

Made-up cases: random trees, somebody who holds part of one, and a query whose seed has the size that is wanted. Random
trees are split at random: a topic has 2 to 8 children, branches of any size among them. Leaves have supports from 0.2
to 5. A query is about topics in random order, none above another, until the seed has its size; most topics are held, so
that there is more in the profile than the query is about, and up to three in ten are sensitive. Trees like these are
neither a taxonomy that somebody wrote nor a person's interests: they show what algorithms do, and how it depends on
size.

How good the paper's greedy is hangs on the drawing: with queries and documents at leaves only (``of_leaves``) it keeps
less than with any topics. So its numbers stand for the one or the other, and not for trees as such.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.profile import Requirement
from aidos.core.progress import SILENT, Progress
from aidos.core.taxonomy import Profile
from aidos.core.topictree import TopicTree, sum_below
from aidos.errors import ParameterError
from aidos.rooms.shield.profile.decision import ALGORITHMS as PRUNES
from aidos.rooms.shield.profile.prune import stand
from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile
from aidos.rooms.shield.profile.seed import SeedProfile
from aidos.studies.ups.plan import ALGORITHMS, PLAIN_RISE, UpsExperiment

__all__ = [
    "Case",
    "Query",
    "apart",
    "draw_case",
    "draw_query",
    "measure_growth",
    "measure_limits",
    "measure_quality",
    "measure_speed",
    "random_seeds",
    "random_tree",
]

ROOMY = 3
"""Topics of a random tree for each topic of the seed."""
ASKED = 20
"""Topics of a query, which is as many as the mapping of queries finds."""
SMALL_TREE = 50
FEWEST_ASKED, MOST_ASKED = 4, 12
SEED_SIZE = 40
LEAVES = "random, leaves alone"
"""Random trees with queries and documents at leaves only."""
QUALITY_LIMITS = (0.05, 0.1, 0.2, 0.3)
"""Limits at which quality is looked at: at 0 little can stay, and from 0.5 on little has to go."""
TINY = 1e-9


def measure_speed(asked: UpsExperiment, trees: Mapping[str, TopicTree], *, progress: Progress = SILENT) -> pa.Table:
    """A row for each tree, size, trial and algorithm; random trees beside those that are given."""
    stream = np.random.default_rng([asked.seed, 1])
    made: dict[str, Callable[[int], TopicTree | None]] = {
        "random": lambda size: random_tree(ROOMY * size, stream),
        **{name: lambda size, tree=tree: _fitting(tree, size) for name, tree in trees.items()},  # type: ignore[misc]
    }
    rows: list[dict[str, Any]] = []
    _compile(stream)
    with progress.task("timing seeds", total=len(made) * len(asked.seed_sizes), unit="sizes") as task:
        for name, make in made.items():
            for size in asked.seed_sizes:
                if (tree := make(size)) is not None:
                    about = {"tree": name, "size": size}
                    for trial in range(asked.trials):
                        case = draw_case(tree, stream, size=size)
                        rows += [{**about, "trial": trial, **row} for row in _timed(case, asked.usual_limit)]
                task.advance(1)
    return pa.Table.from_pylist(rows)


def measure_growth(asked: UpsExperiment, *, progress: Progress = SILENT) -> pa.Table:
    """A row for each size of taxonomy, trial and algorithm; most topics are held, queries have 20 topics."""
    stream = np.random.default_rng([asked.seed, 2])
    rows: list[dict[str, Any]] = []
    _compile(stream)
    with progress.task("timing taxonomies", total=len(asked.taxonomy_sizes), unit="sizes") as task:
        for topics in asked.taxonomy_sizes:
            tree = random_tree(topics, stream)
            for trial in range(asked.trials):
                case = draw_case(tree, stream, asked=ASKED)
                about = {"taxonomy": topics, "held": len(case.held), "trial": trial}
                rows += [{**about, **row} for row in _timed(case, asked.usual_limit)]
            task.advance(1)
    return pa.Table.from_pylist(rows)


def random_seeds(asked: UpsExperiment, number: int) -> Iterator[SeedProfile]:
    """Seeds of some 40 topics on random trees."""
    stream = np.random.default_rng([asked.seed, 3])
    for _ in range(number):
        yield draw_case(random_tree(3 * SEED_SIZE, stream), stream, size=SEED_SIZE).seed()


def measure_limits(
    asked: UpsExperiment, sources: Mapping[str, Iterable[SeedProfile]], *, progress: Progress = SILENT
) -> pa.Table:
    """A row for each seed with something to hide, limit and algorithm."""
    rows: list[dict[str, Any]] = []
    for source, seeds in sources.items():
        with progress.task(f"limits of risk ({source})", total=None, unit="seeds") as task:
            for number, seed in enumerate(seeds):
                task.advance(1)
                before = stand(seed, np.ones(len(seed), dtype=np.bool_))
                if before.risk <= TINY:
                    continue
                about = {"tree": source, "seed": number, "topics": len(seed)}
                about |= {"power_before": before.power, "risk_before": before.risk}
                rows += [{**about, **row} for row in _limited(seed, asked.limits)]
    if not rows:
        raise ParameterError("no query has anything sensitive in its seed", hint="take more people (--size)")
    return pa.Table.from_pylist(rows)


def measure_quality(asked: UpsExperiment, trees: Mapping[str, TopicTree], *, progress: Progress = SILENT) -> pa.Table:
    """A row for each small seed, limit and algorithm; seeds that nothing has to be pruned from are marked."""
    stream = np.random.default_rng([asked.seed, 4])
    rows: list[dict[str, Any]] = []
    grounds = {"random": None, LEAVES: None, **trees}
    with progress.task("looking for the best", total=len(grounds) * asked.small_seeds, unit="seeds") as task:
        for name, given in grounds.items():
            for number in range(asked.small_seeds):
                tree = given or random_tree(SMALL_TREE, stream)
                topics = int(stream.integers(FEWEST_ASKED, MOST_ASKED + 1))
                seed = draw_case(tree, stream, asked=topics, of_leaves=name == LEAVES).seed()
                rows += [{"tree": name, "seed": number, **row} for row in _compared(seed)]
                task.advance(1)
    return pa.Table.from_pylist(rows)


def _timed(case: Case, limit: float) -> Iterator[dict[str, Any]]:
    for name in ALGORITHMS:
        started = time.perf_counter()
        seed = case.seed()
        if name == "greedy-dp" and len(seed) > 1.5 * PLAIN_RISE:
            continue
        found = PRUNES[name](seed, limit, "excess")
        spent = time.perf_counter() - started
        yield {"algorithm": name, "topics": len(seed), "iterations": found.iterations, "seconds": spent}


def _fitting(tree: TopicTree, size: int) -> TopicTree | None:
    """The tree if a seed of that size is sure to be found in it."""
    return tree if ROOMY * size <= len(tree) else None


def _compile(stream: np.random.Generator) -> None:
    """Compile everything, so that no trial pays for it."""
    case = draw_case(random_tree(60, stream), stream, size=20)
    for _ in _timed(case, 0.0):
        pass


def _limited(seed: SeedProfile, limits: Iterable[float]) -> Iterator[dict[str, Any]]:
    for limit in limits:
        for name in ALGORITHMS:
            found = PRUNES[name](seed, limit, "excess")
            numbers = {"power": found.power, "risk": found.risk, "iterations": found.iterations}
            yield {"limit": limit, "algorithm": name, **numbers, "bare": found.is_root}


def _compared(seed: SeedProfile) -> Iterator[dict[str, Any]]:
    for limit in QUALITY_LIMITS:
        best = PRUNES["exact"](seed, limit, "excess")
        if best.power <= TINY:
            continue
        for name in ALGORITHMS:
            found = PRUNES[name](seed, limit, "excess")
            yield {
                "limit": limit,
                "algorithm": name,
                "topics": len(seed),
                "pruned": bool(best.steps.size),
                "power": found.power,
                "best": best.power,
                "share": found.power / best.power,
            }


Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int32]
FEWEST, MOST = 2, 8
"""Children of an inner topic."""
LIGHTEST, HEAVIEST = 0.2, 5.0
HELD = 0.7
"""Share of topics that somebody has documents at."""
SENSITIVE = 0.3
"""Sensitive topics for each topic, at most: fewer are found that have no other above them."""
MOST_DOCUMENTS = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Query:
    """Topics of a query with relevances."""

    places: Places
    scores: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """Somebody's profile, what she finds sensitive, and a query."""

    tree: TopicTree = field(repr=False)
    held: HeldProfile = field(repr=False)
    layer: CostLayer = field(repr=False)
    sensitive: Places = field(repr=False)
    """Topics that count as sensitive for whoever holds them; she does not hold them all."""
    query: Query

    def seed(self) -> SeedProfile:
        """The seed of the query."""
        return SeedProfile.of(self.tree, self.held, self.layer, self.query)


def random_tree(topics: int, stream: np.random.Generator) -> TopicTree:
    """A tree of so many topics."""
    parents = np.full(topics, -1, dtype=np.int32)
    # Topics yet to be placed: how many make up a branch, and below which topic it hangs.
    branches, place = [(topics, -1)], 0
    while branches:
        size, parents[place] = branches.pop()
        if size > 1:
            families = min(size - 1, int(stream.integers(FEWEST, MOST + 1)))
            extra = stream.multinomial(size - 1 - families, stream.dirichlet(np.ones(families)))
            branches.extend((1 + int(more), place) for more in extra)
        place += 1
    leaf = np.ones(topics, dtype=np.bool_)
    leaf[parents[1:]] = False
    ids = tuple(f"t{topic}" for topic in range(topics))
    return TopicTree(
        ids=ids,
        parents=parents,
        sizes=sum_below(parents, np.ones(topics)).astype(np.int32),
        supports=sum_below(parents, np.where(leaf, stream.uniform(LIGHTEST, HEAVIEST, topics), 0.0)),
        places={name: place for place, name in enumerate(ids)},
    )


def draw_case(  # noqa: PLR0913 - all but the first two have defaults
    tree: TopicTree,
    stream: np.random.Generator,
    *,
    size: int | None = None,
    asked: int | None = None,
    held: float = HELD,
    of_leaves: bool = False,
) -> Case:
    """A case whose seed has at least ``size`` topics (a few more, since whole paths are added), or ``asked`` leaves.

    Of the other topics she has documents at a share of ``held``; with ``of_leaves`` both are leaves of the tree.
    """
    query = draw_query(tree, stream, size=size, asked=asked, of_leaves=of_leaves)
    mine = np.flatnonzero((stream.random(len(tree)) < held) & ((tree.sizes == 1) | (not of_leaves)))
    mine = np.union1d(mine[mine > 0], query.places)
    documents = stream.integers(1, MOST_DOCUMENTS, len(mine)).astype(np.float64)
    profile = Profile({tree.ids[place]: count for place, count in zip(mine.tolist(), documents.tolist(), strict=True)})
    holder = HeldProfile.of(tree, profile)
    sensitive = apart(tree, 1 + stream.permutation(len(tree) - 1), max(1, int(SENSITIVE * len(tree))))
    weights = stream.uniform(0.5, 3.0, len(sensitive))
    requirement = Requirement({tree.ids[at]: float(sen) for at, sen in zip(sensitive.tolist(), weights, strict=True)})
    layer = CostLayer.of(tree, holder, requirement)
    return Case(tree=tree, held=holder, layer=layer, sensitive=sensitive, query=query)


def draw_query(
    tree: TopicTree,
    stream: np.random.Generator,
    *,
    size: int | None = None,
    asked: int | None = None,
    of_leaves: bool = False,
) -> Query:
    """Topics of a query: so many, or as many as make up a seed of that size with those above them."""
    topics = np.flatnonzero(tree.sizes == 1) if of_leaves else np.arange(1, len(tree))
    chosen = apart(tree, stream.permutation(topics), asked or len(tree), size)
    if size is not None and len(tree.with_paths(chosen.tolist())) < size:
        raise ParameterError(f"no seed of {size} topics was found in a tree of {len(tree)}")
    return Query(places=chosen, scores=stream.uniform(0.3, 1.0, len(chosen)))


def apart(tree: TopicTree, order: NDArray[np.int64], most: int, size: int | None = None) -> Places:
    """The first topics of an order of which none is above another: so many, or ``size`` with all above them."""
    taken: list[int] = []
    seen, covered = np.zeros((2, len(tree)), dtype=np.bool_)
    seen[0], number = True, 1
    for place in order.tolist():
        if len(taken) == most or (size is not None and number >= size):
            break
        if covered[place] or seen[place]:
            continue
        taken.append(place)
        covered[place : place + tree.sizes[place]] = True
        above = place
        while not seen[above]:
            seen[above] = True
            number += 1
            above = int(tree.parents[above])
    return np.array(sorted(taken), dtype=np.int32)
