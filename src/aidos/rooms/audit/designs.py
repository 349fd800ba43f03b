"""What the lists of an audit can be compared with: from which place, by which variant, in which order they were asked.

A list with the account differs from one without for many reasons. Only those that nothing but the account sets apart
say something about the account:

- *Place and variant.* Compared is the list without an account that was asked from the same place as the one with it,
  and answered by the same variant of the service. If the first list without an account is from elsewhere and the second
  is not, they change roles. Where both are from the account's place the second is compared, and the first is what both
  are held against.
- *Order.* The service drifts, and what comes second profits from what it has just seen. So whether the account's list
  was asked before or after the other must be left to chance, and the tests follow it (`aidos.rooms.audit.chance`). An
  order that is nearly always the same tells nothing apart, and one that comes in long runs was hardly left to chance.
  A third list, asked before the two, between or after them, must not tell which of the two came first. Where one list
  without an account does so and the other does not, the other is compared.

What the lists do not say may be granted: then it is on the person's word. What they say and is against it cannot be.
Lists without an account also show what place and time do by themselves, where they differ in these.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from aidos.core.resultpairs import SIDES, Fetch, ResultPair, Side
from aidos.rooms.audit.chance import FREE, Signs
from aidos.rooms.audit.conclusion import GRANTS, Grant, Lack
from aidos.rooms.audit.items import LEAST_CONTROLLED

__all__ = ["Contrast", "Design", "arrange"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
LEAST_SHARE = 0.1
"""Of the rarer order, that tells time and account apart."""
LEAST_RARE = 5
"""Queries of it."""
RUNS = -3.1
"""Standard deviations below what chance gives: one of 1,000."""
ALIKE, UNKNOWN, APART = 2, 1, 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contrast:
    """Queries of which two lists can be compared."""

    queries: Longs
    signs: Signs = FREE
    """Whether the second of the two was asked later."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """What can be compared with what."""

    account: Contrast
    """The list without an account, and that with it."""
    controlled: bool
    """Whether there is another list without an account beside the one that is compared."""
    second: NDArray[np.bool_]
    """Of these queries, those whose second list without an account is compared; of the others it is the first."""
    lacks: tuple[Lack, ...]
    granted: tuple[Grant, ...] = ()
    """What is on the person's word alone."""
    place: Contrast | None = None
    """Lists without an account from two places; None where there are too few, or their order is not known."""
    time: Contrast | None = None
    """Two lists without an account from one place, in an order that is known."""
    turns: tuple[Longs, Longs] | None = None
    """Queries of which all three lists have a turn, and which two are furthest apart: the vanilla lists (0), the first
    of them and the account's (1), the second and the account's (2)."""


def arrange(pairs: Sequence[ResultPair], granted: Collection[Grant] = ()) -> tuple[tuple[ResultPair, ...], Design]:
    """The pairs with the list first that the account's is to be compared with, and what can be compared."""
    arranged = tuple(_turned(pair) if _exchanges(pair, granted) else pair for pair in pairs)
    design = _design(arranged, granted)
    if design.controlled and "fixed-order" in design.lacks:
        other = tuple(map(_turned, arranged))
        found = _design(other, granted)
        if "fixed-order" not in found.lacks and {*found.lacks} <= {*design.lacks, "runs"}:
            return other, found
    return arranged, design


def _design(arranged: Sequence[ResultPair], granted: Collection[Grant]) -> Design:
    """What can be compared where the first list is, unless the second is as good."""
    everything = np.arange(len(arranged))
    with_again = np.array([pair.again is not None for pair in arranged])
    controlled = _are_enough(int(with_again.sum()), len(arranged), LEAST_CONTROLLED)
    queries = everything[with_again] if controlled else everything
    second = np.array([controlled and _takes_second(arranged[query], granted) for query in queries.tolist()])
    compared = [
        (arranged[query], _compared(second=one)) for query, one in zip(queries.tolist(), second.tolist(), strict=True)
    ]
    kept, lacks = _alike(compared, len(arranged), granted)
    queries, second = queries[kept], second[kept]
    compared = [each for each, keeps in zip(compared, kept.tolist(), strict=True) if keeps]
    later = np.array([_later(*each) for each in compared])
    known = later != 0
    signs = FREE
    if _are_enough(int(known.sum()), len(arranged)):
        turns = np.array([_turn_of(pair, "vanilla" if side == "again" else "again") for pair, side in compared])
        queries, second, signs = queries[known], second[known], Signs(later, turns).of(known)
        trouble = _trouble(signs, _times(arranged, queries))
        lacks += trouble
        signs = FREE if trouble else signs
    elif "order" not in granted:
        lacks.append("order")
    return Design(
        account=Contrast(queries=queries, signs=signs),
        controlled=controlled,
        second=second,
        lacks=tuple(lacks),
        granted=tuple(name for name in GRANTS if name in granted),
        place=_place_contrast(arranged, granted) if controlled else None,
        time=_time_contrast(arranged) if controlled else None,
        turns=_furthest(arranged) if controlled else None,
    )


def _alike(
    compared: Sequence[tuple[ResultPair, Side]], pairs: int, granted: Collection[Grant]
) -> tuple[NDArray[np.bool_], list[Lack]]:
    """Which lists are of the place and variant of the account's, as far as there are enough, and what is lacking."""
    lacks: list[Lack] = []
    kept = np.ones(len(compared), dtype=np.bool_)
    names: tuple[Literal["place", "bucket"], ...] = ("place", "bucket")
    for name in names:
        states = np.array([_state(pair, side, name) for pair, side in compared])
        if _are_enough(int((kept & (states == ALIKE)).sum()), pairs):
            kept &= states == ALIKE
        elif _are_enough(int((kept & (states != APART)).sum()), pairs):
            kept &= states != APART
            if name not in granted:
                lacks.append(name)
        else:
            lacks.append("other-place" if name == "place" else "other-bucket")
    return kept, lacks


def _are_enough(number: int, of: int, least: int = 0) -> bool:
    return number >= max(least or min(LEAST_CONTROLLED, of), of / 2)


def _compared(*, second: bool) -> Side:
    return "again" if second else "vanilla"


def _state(pair: ResultPair, side: Side, name: str) -> int:
    """Whether place or bucket of a list is that of the account's."""
    mine, other = getattr(pair.fetch("personalised"), name), getattr(pair.fetch(side), name)
    return UNKNOWN if not (mine and other) else ALIKE if mine == other else APART


def _rank(pair: ResultPair, side: Side, granted: Collection[Grant]) -> tuple[int, int]:
    """How well a list can be compared with the account's: at worst, and in all."""
    states = [_state(pair, side, name) for name in ("place", "bucket")]
    states = [
        ALIKE if state == UNKNOWN and name in granted else state
        for state, name in zip(states, ("place", "bucket"), strict=True)
    ]
    return min(states), sum(states)


def _exchanges(pair: ResultPair, granted: Collection[Grant]) -> bool:
    return pair.again is not None and _rank(pair, "again", granted) > _rank(pair, "vanilla", granted)


def _takes_second(pair: ResultPair, granted: Collection[Grant]) -> bool:
    return _rank(pair, "again", granted) == _rank(pair, "vanilla", granted)


def _turned(pair: ResultPair) -> ResultPair:
    """The same pair with the two lists without an account in each other's place."""
    if pair.again is None:
        return pair
    vanilla, personalised, again = (pair.fetch(side) for side in SIDES)
    gap = None if personalised.when is None or again.when is None else personalised.when - again.when
    return replace(
        pair,
        vanilla=pair.again,
        again=pair.vanilla,
        when=again.when,
        gap=gap,
        place=again.place,
        fetches=(again, personalised, vanilla),
    )


def _order(one: Fetch, other: Fetch) -> int:
    """1 where the second was asked later, -1 where earlier, 0 where that is not known."""
    if one.turn is not None and other.turn is not None:
        return (other.turn > one.turn) - (other.turn < one.turn)
    if one.when is not None and other.when is not None:
        return (other.when > one.when) - (other.when < one.when)
    return 0


def _later(pair: ResultPair, side: Side) -> float:
    found = _order(pair.fetch(side), pair.fetch("personalised"))
    if not found and side == "vanilla" and pair.gap is not None:
        seconds = pair.gap.total_seconds()
        found = (seconds > 0) - (seconds < 0)
    return float(found)


def _turn_of(pair: ResultPair, side: Side) -> int:
    """How many of the other lists were asked before this one; 0 where there are just two lists, or nothing says."""
    return 0 if pair.again is None else sum(_order(pair.fetch(each), pair.fetch(side)) > 0 for each in SIDES)


def _trouble(signs: Signs, times: Longs | None) -> list[Lack]:
    """Why this order was not left to chance, or tells nothing apart."""
    later = signs.seen(0)
    if signs.rarer < max(LEAST_RARE, LEAST_SHARE * len(later)):
        return ["fixed-order"]
    rarer = min(int((later > 0).sum()), int((later < 0).sum()))
    asked = later if times is None else later[np.argsort(times, kind="stable")]
    number, runs = len(asked), 1 + int((asked[1:] != asked[:-1]).sum())
    both = 2 * rarer * (number - rarer)
    spread = np.sqrt(both * (both - number) / (number**2 * (number - 1)))
    return ["runs"] if runs - 1 - both / number < RUNS * spread else []


def _times(pairs: Sequence[ResultPair], queries: Longs) -> Longs | None:
    """When each query was asked, as numbers; None where one does not say, and the order of the file stands for it."""
    found = [pairs[query].when for query in queries.tolist()]
    return None if None in found else np.array(found, dtype="datetime64[us]").astype(np.int64)


def _usual(pairs: Sequence[ResultPair], found: list[tuple[int, int]], *, granted: bool) -> Contrast | None:
    """Of queries and orders a contrast; None where the order does not let it be tested."""
    if _are_enough(sum(order != 0 for _, order in found), len(found), LEAST_CONTROLLED):
        found = [each for each in found if each[1]]
        queries, later = _numbers(found), np.array([order for _, order in found], dtype=np.float64)
        third = np.array([_turn_of(pairs[query], "personalised") for query in queries.tolist()])
        signs = Signs(later, third)
        return None if _trouble(signs, _times(pairs, queries)) else Contrast(queries=queries, signs=signs)
    return Contrast(queries=_numbers(found)) if granted and len(found) >= LEAST_CONTROLLED else None


def _numbers(found: Sequence[tuple[int, int]]) -> Longs:
    return np.array([query for query, _ in found], dtype=np.int64)


def _place_contrast(pairs: Sequence[ResultPair], granted: Collection[Grant]) -> Contrast | None:
    found = []
    for query, pair in enumerate(pairs):
        one, other = pair.fetch("vanilla"), pair.fetch("again") if pair.again else Fetch()
        if one.place and other.place and one.place != other.place and one.bucket == other.bucket:
            found.append((query, _order(one, other)))
    return _usual(pairs, found, granted="order" in granted)


def _time_contrast(pairs: Sequence[ResultPair]) -> Contrast | None:
    """Needs no chance: where time does nothing the two are alike, whichever came first."""
    found = []
    for query, pair in enumerate(pairs):
        one, other = pair.fetch("vanilla"), pair.fetch("again") if pair.again else Fetch()
        if one.place == other.place and one.bucket == other.bucket and (order := _order(one, other)):
            found.append((query, order))
    if len(found) < LEAST_CONTROLLED:
        return None
    return Contrast(queries=_numbers(found), signs=Signs(np.array([order for _, order in found], dtype=np.float64)))


def _furthest(pairs: Sequence[ResultPair]) -> tuple[Longs, Longs] | None:
    """Where lists were asked in turns that vary, which two of the three were first and last."""
    queries, furthest = [], []
    for query, pair in enumerate(pairs):
        if pair.again is None:
            continue
        fetches = [pair.fetch(side) for side in SIDES]
        before = [sum(_order(other, one) > 0 for other in fetches) for one in fetches]
        if sorted(before) == [0, 1, 2] and len({(each.place, each.bucket) for each in fetches}) == 1:
            queries.append(query)
            furthest.append({0: 2, 1: 0, 2: 1}[before.index(1)])
    numbers = np.bincount(furthest, minlength=3) if furthest else np.zeros(3, dtype=np.int64)
    if len(queries) < LEAST_CONTROLLED or np.sort(numbers)[1] < max(LEAST_RARE, LEAST_SHARE * len(queries)):
        return None
    return np.array(queries), np.array(furthest)
