"""What can be concluded: one sentence that all tests together allow, each with a rate of false alarms of its own.

The question is asked in steps, and the first answer that holds is the conclusion.

1. *Do the lists of the account differ from those without?* By topic (`aidos.rooms.audit.verdict`), which takes four
   fifths of the level, or in any way: how far the account's list is away, less how far another one without account is,
   by overlap, order and tops at once, which takes the last fifth.
2. *If so, can it be the account?* Not where the lists do not say that place, variant and order are out of the way, or
   say the contrary (`aidos.rooms.audit.designs`). Then it cannot be told, unless lists without an account already
   differ by place or by time.
3. *If so, is it by topic?* Lists may differ because a service tries out another ranking, or prefers some sites, and of
   many topics some always go along. What moved is compared with the usual move from its rank. Without a link between
   moves and topics what is left has no direction: neither over queries nor over sites. Signs of whole queries, and of
   whole sites (of single results where there are few sites) are dealt out anew, and both must be beyond chance.
4. *If not, what else differs?* Two lists without an account from two places, or one after the other, at half the level
   each: by direction of topics, and by how far they are apart.

Every test is a test of one hypothesis by signs or ranks that could have fallen otherwise, so its rate of false alarms
is its level: exactly for the first, second and fourth where order is known or left to chance; nearly for the third,
whose moves are compared with a mean that is estimated. "Nothing found" does not mean that nothing is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.chance import FLIPS, TINY, Signs, halves_p_value, sign_flip_p_values
from aidos.rooms.audit.conclusion import Conclusion, Kind
from aidos.rooms.audit.designs import Contrast, Design
from aidos.rooms.audit.differences import MOST_COMPARED, distance_table
from aidos.rooms.audit.items import PairItems
from aidos.rooms.audit.shifts import shifts_by_query
from aidos.rooms.audit.verdict import Verdict, judge

__all__ = ["TOPICS_PART", "Weighed", "weigh"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
TOPICS_PART = 0.8
"""Of the level, what the test of topics may use up; the rest is for lists that differ in any other way."""
FEWEST_SITES = 20
"""Below it single results stand in for sites."""
BINS = 20
"""Parts of a list, from the top to the end, whose usual move is taken off."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weighed:
    """What was compared, and what it says."""

    compared: PairArrays
    control: PairArrays | None
    verdict: Verdict
    conclusion: Conclusion


def weigh(items: PairItems, maps: TopicMaps, design: Design, *, level: float, seed: int = 0) -> Weighed:
    """Compare what the design allows, and take the steps."""
    account = design.account
    compared = items.arrays(maps).take(account.queries)
    control = items.control(maps, account.queries, design.second) if design.controlled else None
    verdict = judge(compared, control, level=level, seed=seed, signs=account.signs)
    conclusion = _conclude(items, maps, design, compared, verdict, level=level, seed=seed)
    return Weighed(compared=compared, control=control, verdict=verdict, conclusion=conclusion)


def _conclude(  # noqa: PLR0913 - the data, and what was found so far
    items: PairItems,
    maps: TopicMaps,
    design: Design,
    pairs: PairArrays,
    verdict: Verdict,
    *,
    level: float,
    seed: int,
) -> Conclusion:
    generator = np.random.default_rng([seed, 1])
    by_lists = _by_lists(items, design, generator) if design.controlled else None
    p_value = verdict.p_value if by_lists is None else min(verdict.p_value / TOPICS_PART, by_lists / (1 - TOPICS_PART))
    p_value, differs = min(1.0, p_value), p_value <= level
    by_place = None if design.place is None else _between(items, maps, design.place, generator)
    by_time = _by_time(items, maps, design, generator)
    place, time = (each is not None and each <= level / 2 for each in (by_place, by_time))
    lacks = design.lacks if differs else ()
    beyond = _beyond(pairs, items, generator) if differs and not lacks else None
    kind: Kind = "nothing"
    if beyond is not None:
        by_topic = verdict.p_value <= level * (1 if by_lists is None else TOPICS_PART)
        kind = "topic" if by_topic and beyond <= level else "not-topic"
    elif lacks:
        kind = "place" if place and "other-place" in lacks else "time" if time and "fixed-order" in lacks else "unknown"
    elif place or time:
        kind = "place" if place else "time"
    elif by_lists is None and pairs.changed.any():
        kind, lacks = "unknown", ("again",)
    return Conclusion(
        kind=kind,
        p_value=p_value,
        lacks=lacks,
        by_topic=verdict.p_value,
        by_lists=by_lists,
        beyond=beyond,
        by_place=by_place,
        by_time=by_time,
        granted=design.granted,
    )


def _some(number: int, generator: np.random.Generator) -> Longs:
    if number <= MOST_COMPARED:
        return np.arange(number)
    return np.sort(generator.choice(number, MOST_COMPARED, replace=False))


def _by_lists(items: PairItems, design: Design, generator: np.random.Generator) -> float:
    """Whether the account's lists are further from the others than those are from each other."""
    chosen = _some(len(design.account.queries), generator)
    table, second = distance_table(items, design.account.queries[chosen]), design.second[chosen]
    away = np.where(second[:, None], table[:, 1], table[:, 2]) - table[:, 0]
    return sign_flip_p_values(away, FLIPS, generator, signs=design.account.signs.of(chosen)).overall


def _shifts(items: PairItems, maps: TopicMaps, queries: Longs) -> Floats:
    """How far topics rose from the first to the second list without an account."""
    return shifts_by_query(items.control(maps, queries, np.ones(len(queries), dtype=np.bool_)))


def _between(items: PairItems, maps: TopicMaps, contrast: Contrast, generator: np.random.Generator) -> float:
    """Whether lists without an account from two places differ: by direction of topics, or seen from the account's."""
    chosen = _some(len(contrast.queries), generator)
    queries, signs = contrast.queries[chosen], contrast.signs.of(chosen)
    table = distance_table(items, queries)
    found = [
        sign_flip_p_values(each, FLIPS, generator, signs=signs).overall
        for each in (_shifts(items, maps, queries), table[:, 2] - table[:, 1])
    ]
    return min(1.0, 2 * min(found))


def _by_time(items: PairItems, maps: TopicMaps, design: Design, generator: np.random.Generator) -> float | None:
    """Whether later lists differ from earlier ones in a direction, or those further apart differ by more."""
    found = []
    if design.time is not None and design.time.signs.later is not None:
        chosen = _some(len(design.time.queries), generator)
        turned = (_shifts(items, maps, design.time.queries[chosen]).T * design.time.signs.later[chosen]).T
        found.append(sign_flip_p_values(turned, FLIPS, generator).overall)
    if design.turns is not None:
        chosen = _some(len(design.turns[0]), generator)
        found.append(_by_distance(distance_table(items, design.turns[0][chosen]), design.turns[1][chosen], generator))
    return min(1.0, len(found) * min(found)) if found else None


def _by_distance(table: Floats, furthest: Longs, generator: np.random.Generator) -> float:
    """Whether the lists that were asked first and last are further apart: turns are dealt out anew among queries."""
    away = table - table.mean(axis=1, keepdims=True)
    scale = np.sqrt((away**2).sum(axis=(0, 1)))
    away = np.divide(away, scale, out=np.zeros_like(away), where=scale > 0).sum(axis=2)
    rows = np.arange(len(away))
    seen = float(away[rows, furthest].sum())
    drawn = [float(away[rows, generator.permutation(furthest)].sum()) for _ in range(FLIPS)]
    return (1 + sum(each >= seen - TINY for each in drawn)) / (1 + FLIPS)


def _beyond(pairs: PairArrays, items: PairItems, generator: np.random.Generator) -> float:
    """Whether moves go along with topics, beyond what ranks, whole queries and whole sites would do."""
    if len(pairs) > MOST_COMPARED:
        pairs = pairs.take(_some(len(pairs), generator))
    moves = (pairs.ranks - pairs.positions) / np.maximum(pairs.lengths, 1)[pairs.query_of]
    bins = np.minimum(((pairs.ranks - 0.5) / pairs.lengths[pairs.query_of] * BINS).astype(np.int64), BINS - 1)
    usual = np.bincount(bins, weights=moves, minlength=BINS) / np.maximum(np.bincount(bins, minlength=BINS), 1)
    left = (moves - usual[bins]) * pairs.lengths[pairs.query_of]
    left -= (pairs.sum_by_query(left) / np.maximum(pairs.lengths, 1))[pairs.query_of]
    groups = (pairs.query_of, _sites(pairs, items))
    return max(_directed(_sums(pairs, left, group), generator) for group in groups)


def _sums(pairs: PairArrays, moves: Floats, groups: Longs) -> Floats:
    """Moves by what they are about, for each group of places."""
    maps = pairs.maps
    spans = np.diff(maps.starts)[pairs.items]
    places = np.repeat(np.arange(len(pairs.items)), spans)
    begun = np.concatenate([[0], np.cumsum(spans)[:-1]])
    entries = np.repeat(maps.starts[pairs.items] - begun, spans) + np.arange(len(places))
    sums = np.zeros((int(groups.max(initial=-1)) + 1, pairs.topic_count))
    np.add.at(sums, (groups[places], maps.topics[entries]), moves[places] * maps.shares[entries])
    return sums


def _directed(sums: Floats, generator: np.random.Generator) -> float:
    one = sign_flip_p_values(sums, FLIPS, generator).overall
    return min(1.0, 2 * min(one, halves_p_value(sums, generator, Signs())))


def _sites(pairs: PairArrays, items: PairItems) -> Longs:
    """The site of each place, or its result where there are few sites."""
    hosts = [_site(items.items[item].url) for item in range(len(items.items))]
    numbers: dict[str, int] = {}
    known = np.array([numbers.setdefault(host, len(numbers)) for host in hosts])
    groups = known[pairs.items]
    if "" in numbers or len(np.unique(groups)) < FEWEST_SITES:
        groups = pairs.items
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _site(address: str) -> str:
    """The site of an address; empty where it has none."""
    try:
        return (urlsplit(address).hostname or "") if "://" in address else ""
    except ValueError:
        return ""
