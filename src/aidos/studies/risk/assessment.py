"""One measure of risk against the truth: a row for every topic, with what is needed to compare measures and roles.

    R-precision   where R people of a topic are sensitive, the share of them among the first R. The adversary knows how
                  many there are and takes as many. Micro: over all sensitive people of all topics; macro: over topics.
    MAP           the mean over topics of average precision: the mean precision at the places of sensitive people
    NDCG          the whole list against the best order by grades; gain 2^grade - 1, discount log2(1 + position)

Risks tie: people without a word of the topic all have the same. What is given is the mean over all orders of the tied
(McSherry and Najork 2008), so that no order of rows helps or harms. R-precision may be weighted: where profiles were
drawn with unequal chances, each stands for as many people as one over its chance, and R counts those.

Rows are plain dictionaries, tables of them have the columns of `SCHEMA`. People whose truth is not known for a topic
are left out of that topic's ranking. Nothing here knows what judges should have said.

Who is sensitive to which topic: as judges say, or as the sample world knows. In the world the people of a topic are the
afflicted ones; professionals and curious people of the topic are those whom a good measure should not take for
afflicted. Among the posts of its open community only people with a post can be ranked; an afflicted person who writes
about her trouble in the anonymous community alone counts as afflicted all the same, and cannot be found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from aidos.errors import InputError
from aidos.studies.risk.profiles import ProfileJudgements, ProfileSampling
from aidos.world.people import ROLES, block_count, people_block
from aidos.world.prose import client_texts
from aidos.world.size import World
from aidos.world.vocabulary import build_vocabulary

__all__ = [
    "AFFLICTED",
    "SCHEMA",
    "WATCHED",
    "Truth",
    "assess",
    "average_precision",
    "before",
    "found_within",
    "ndcg",
    "percentiles",
    "r_precision",
    "tabulate",
    "within_first",
]

AFFLICTED = "afflicted"
WATCHED = (AFFLICTED, "professional", "curious")
"""Roles whose places in the ranking are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truth:
    """A row for each person who is ranked, a column for each topic."""

    topics: tuple[str, ...]
    grades: Floats = field(repr=False)
    """How sensitive, from 0 on; not a number where nobody knows: such people are left out for the topic."""
    sensitive: Flags = field(repr=False)
    roles: Mapping[str, Flags] = field(default_factory=dict, repr=False)
    """Who has each role of `WATCHED` with regard to each topic; empty where it is not known."""

    @classmethod
    def of_world(cls, world: World, ids: Sequence[str]) -> Self:
        """The truth about these people of a world, everybody known."""
        vocabulary = build_vocabulary(world)
        first = vocabulary.ordinary
        found: dict[str, tuple[int, int]] = {}
        for block in range(block_count(world)):
            people = people_block(world, vocabulary, block)
            special = people.roles > 0
            names = map(str, client_texts(people.numbers[special]).to_pylist())
            about = zip(people.roles[special].tolist(), (people.role_topics[special] - first).tolist(), strict=True)
            found |= dict(zip(names, about, strict=True))
        shape = (len(ids), len(vocabulary.sensitive))
        roles = {role: np.zeros(shape, dtype=np.bool_) for role in WATCHED}
        for row, person in enumerate(ids):
            if person in found:
                role, topic = found[person]
                roles[ROLES[role]][row, topic] = True
        return cls(
            topics=tuple(vocabulary.topics[topic].id for topic in vocabulary.sensitive),
            grades=roles[AFFLICTED].astype(np.float64),
            sensitive=roles[AFFLICTED],
            roles=roles,
        )

    @classmethod
    def of_judgements(cls, judgements: ProfileJudgements, ids: Sequence[str]) -> Self:
        """What judges say about these people."""
        grades, sensitive, _ = judgements.among(ids)
        return cls(topics=judgements.topics, grades=grades, sensitive=sensitive)

    def select(self, topics: Sequence[str]) -> Self:
        """Only these topics, in this order."""
        columns = [self.topics.index(topic) for topic in topics]
        return replace(
            self,
            topics=tuple(topics),
            grades=self.grades[:, columns],
            sensitive=self.sensitive[:, columns],
            roles={role: flags[:, columns] for role, flags in self.roles.items()},
        )

    def sampled(self, sampling: ProfileSampling, scores: Floats) -> Self:
        """The same where only sampled profiles are known, drawn for each topic by the scores of people."""
        kept = np.full(self.grades.shape, np.nan)
        for column in range(len(self.topics)):
            drawn = sampling.draw(scores[:, column], column).people
            kept[drawn, column] = self.grades[drawn, column]
        return replace(self, grades=kept, sensitive=self.sensitive & np.isfinite(kept))


Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
LISTED = pa.list_(pa.float64())

COLUMNS: dict[str, pa.DataType] = {
    "measure": pa.string(),
    "parameter": pa.string(),
    "value": pa.float64(),
    "topic": pa.string(),
    "people": pa.int64(),
    "sensitive": pa.int64(),
    "average_precision": pa.float64(),
    "ndcg": pa.float64(),
    "found": LISTED,
    **{f"{role}_percentiles": LISTED for role in WATCHED},
    **{f"{role}_behind": LISTED for role in WATCHED},
    **{f"{role}_taken": pa.float64() for role in WATCHED},
}
SCHEMA = pa.schema(COLUMNS)
"""``parameter`` and ``value`` say what was varied, null for a measure as it is. ``found`` has for each sensitive person
the chance to be among the first R; for each person of a role there are her percentile and the share of afflicted people
who stand before her (behind), and for all of the role the share of the first R places that they take (taken)."""


def assess(name: str, risks: Floats, truth: Truth, *, varied: tuple[str, float] | None = None) -> list[dict[str, Any]]:
    """The rows of one measure; risks have a row for each person and a column for each topic."""
    if risks.shape != truth.grades.shape:
        raise InputError(f"risks of {risks.shape[0]} people were given for the truth about {truth.grades.shape[0]}")
    parameter, value = varied or (None, None)
    rows = []
    for column, topic in enumerate(truth.topics):
        known = np.isfinite(truth.grades[:, column])
        here, sensitive = risks[known, column], truth.sensitive[known, column]
        row: dict[str, Any] = {
            "measure": name,
            "parameter": parameter,
            "value": value,
            "topic": topic,
            "people": len(here),
            "sensitive": int(sensitive.sum()),
            "average_precision": average_precision(here, sensitive),
            "ndcg": ndcg(here, truth.grades[known, column]) if len(here) else float("nan"),
            "found": found_within(here, sensitive).tolist(),
        }
        roles = {role: flags[known, column] for role, flags in truth.roles.items()}
        rows.append(row | _places(here, roles, int(sensitive.sum())))
    return rows


def tabulate(rows: Iterable[dict[str, Any]]) -> pa.Table:
    """Rows as a table."""
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)


def _places(risks: Floats, roles: dict[str, NDArray[np.bool_]], first: int) -> dict[str, Any]:
    if not roles:
        return {}
    shares, chances = percentiles(risks), within_first(risks, float(first))
    found: dict[str, Any] = {}
    for role, flags in roles.items():
        found[f"{role}_percentiles"] = shares[flags].tolist()
        found[f"{role}_behind"] = before(risks[flags], risks[roles[AFFLICTED]]).tolist() if flags.any() else []
        found[f"{role}_taken"] = float(chances[flags].sum()) / first if first else float("nan")
    return found


def within_first(risks: ArrayLike, places: float, weights: ArrayLike | None = None) -> Floats:
    """For everybody the chance to be among the first so many: 0, 1, or between where people tie or have weights."""
    found = _numbers(risks)
    mass = np.ones(len(found)) if weights is None else np.asarray(weights, dtype=np.float64)
    if mass.shape != found.shape or not (np.isfinite(mass).all() and (mass > 0).all()):
        raise InputError("weights must be finite and above 0, one for each person")
    _, group = np.unique(-found, return_inverse=True)
    sizes = np.bincount(group, weights=mass)
    ahead = np.cumsum(sizes) - sizes
    chances: Floats = np.clip((places - ahead) / sizes, 0.0, 1.0)[group]
    return chances


def found_within(risks: ArrayLike, sensitive: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """For each sensitive person, in order of rows, the chance that she is among the first R.

    The mean is R-precision, which is why two measures are compared person by person over these (a paired t-test).
    """
    found, flags = _checked(risks, sensitive)
    number = flags.sum() if weights is None else np.asarray(weights, dtype=np.float64)[flags].sum()
    return within_first(found, float(number), weights)[flags]


def r_precision(risks: ArrayLike, sensitive: ArrayLike, weights: ArrayLike | None = None) -> float:
    """The share of R sensitive people among the first R; not a number where nobody is sensitive."""
    chances = found_within(risks, sensitive, weights)
    if not len(chances):
        return float("nan")
    mass = None if weights is None else np.asarray(weights, dtype=np.float64)[np.asarray(sensitive, dtype=np.bool_)]
    return float(np.average(chances, weights=mass))


def average_precision(risks: ArrayLike, sensitive: ArrayLike) -> float:
    """The mean precision at the places of sensitive people; not a number where nobody is sensitive."""
    found, flags = _checked(risks, sensitive)
    if not flags.any():
        return float("nan")
    _, group = np.unique(-found, return_inverse=True)
    sizes = np.bincount(group)
    held = np.bincount(group, weights=flags)
    # Position by position: its group, what comes before the group, and its place in it.
    which = np.repeat(np.arange(len(sizes)), sizes)
    position = np.arange(1, len(found) + 1)
    inside = position - (np.cumsum(sizes) - sizes)[which]
    ahead = (np.cumsum(held) - held)[which]
    size, own = sizes[which], held[which]
    # Given that a sensitive person stands here, each other place of the group holds one by (own - 1) / (size - 1).
    mates = (inside - 1) * (own - 1) / np.maximum(size - 1, 1)
    total = (own / size * (ahead + 1 + mates) / position).sum()
    return float(total / flags.sum())


def ndcg(risks: ArrayLike, grades: ArrayLike) -> float:
    """NDCG of the whole list; not a number where all grades are 0."""
    found, given = _numbers(risks), np.asarray(grades, dtype=np.float64)
    if found.shape != given.shape or not (np.isfinite(given).all() and (given >= 0).all()):
        raise InputError("grades must be finite and not negative, one for each person")
    gains, discounts = np.exp2(given) - 1.0, 1.0 / np.log2(np.arange(2, len(found) + 2))
    best = float(np.sort(gains)[::-1] @ discounts)
    _, group, sizes = np.unique(-found, return_inverse=True, return_counts=True)
    means = np.bincount(group, weights=gains, minlength=len(sizes)) / sizes
    reach = np.concatenate([[0.0], np.cumsum(discounts)])
    ends = np.cumsum(sizes)
    return float(means @ (reach[ends] - reach[ends - sizes])) / best if best > 0 else float("nan")


def percentiles(risks: ArrayLike) -> Floats:
    """The share of people with a lower risk, those with the same counting half: 1 is the most exposed."""
    from scipy.stats import rankdata

    shares: Floats = (rankdata(risks) - 0.5) / max(np.size(risks), 1)
    return shares


def before(risks: ArrayLike, others: ArrayLike) -> Floats:
    """For each risk the share of the others that are higher, those that are equal counting half."""
    found, rivals = _numbers(risks), np.sort(_numbers(others))
    if not len(rivals):
        return np.full(len(found), np.nan)
    lower = np.searchsorted(rivals, found, side="left") + np.searchsorted(rivals, found, side="right")
    shares: Floats = 1.0 - 0.5 * lower / len(rivals)
    return shares


def _numbers(risks: ArrayLike) -> Floats:
    found = np.asarray(risks, dtype=np.float64)
    if found.ndim != 1 or np.isnan(found).any():
        raise InputError("risks must be numbers, one for each person")
    return found


def _checked(risks: ArrayLike, sensitive: ArrayLike) -> tuple[Floats, Flags]:
    found, flags = _numbers(risks), np.asarray(sensitive, dtype=np.bool_)
    if found.shape != flags.shape:
        raise InputError(f"{found.size} risks were given for {flags.size} people")
    return found, flags
