"""Every mechanism of the catalogue, set up to be attacked: the story to tell, what to look at, what was promised.

The stories are the worst that aidos knows for each: a query, a click or a pair of queries that nobody has but the
victim and the attacker's accounts.

A publisher is a mechanism as its audience sees it: what it shows of the items that an attacker looks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, cast

import pyarrow as pa

from aidos.core.guarantee import Guarantee, Neighbours
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.rooms.publish.anonymity import KKeywordAnonymity, KQueryAnonymity, KSessionAnonymity
from aidos.rooms.publish.attacks.scenes import SEPARATOR, ClickScene, PairScene, Publisher, QueryScene, Scene
from aidos.rooms.publish.catalogue import find_mechanism, mechanism_names
from aidos.rooms.publish.click_counts import ClickCounts, ClickData
from aidos.rooms.publish.items import KINDS, contributions
from aidos.rooms.publish.multi import HistogramMechanism, LogRelease
from aidos.rooms.publish.pool import PoolRelease, public_list, threshold_for

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from aidos.rooms.publish.jobs.attack import Settings

__all__ = ["Opponent", "find_opponents", "publisher_of", "publishes_clicks", "publishes_pool_table"]

FACTS = PublicFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opponent:
    """A mechanism to be attacked."""

    name: str
    target: str
    """What the attacker guesses: a query, a click or a pair of queries."""
    guarantee: Guarantee
    scene: Scene
    publish: Publisher


def find_opponents(names: Sequence[str], settings: Settings, *, items: int = 1) -> list[Opponent]:
    """The mechanisms of these names, all when there is none; ``items`` is how many queries a victim asked.

    A release of several kinds is left out: it is made of the others, with their budget split.
    """
    kinds = {name: find_mechanism(name) for name in (names or mechanism_names())}
    return [
        opponent
        for name, kind in kinds.items()
        if kind is not LogRelease
        for opponent in _opponents(name, kind, settings, items)
    ]


def _opponents(name: str, kind: type, settings: Settings, items: int) -> list[Opponent]:
    if kind is PoolRelease:
        return _pool_opponents(name, settings)
    mechanism = _made(kind, settings)
    if isinstance(mechanism, ClickCounts):
        clicks = ClickScene(trials=settings.trials)
        shown = publishes_clicks(mechanism, clicks.results())
        return [Opponent(name=name, target="click", guarantee=mechanism.guarantee(FACTS), scene=clicks, publish=shown)]
    anonymous = isinstance(mechanism, KQueryAnonymity | KSessionAnonymity | KKeywordAnonymity)
    queried = cast("HistogramMechanism", mechanism)
    promise = queried.guarantee(FACTS)
    replaces = getattr(promise, "neighbours", None) is Neighbours.REPLACE_ONE
    return [
        Opponent(
            name=name,
            target="query",
            guarantee=promise,
            scene=QueryScene(trials=settings.trials, items=1 if anonymous else items, decoy=replaces),
            publish=publisher_of(queried),
        )
    ]


def _made(kind: type, settings: Settings) -> object:
    """The mechanism with those of the settings that are parameters of it."""
    known = {field.name for field in fields(cast("type[DataclassInstance]", kind))}
    given = {field.name: getattr(settings, field.name) for field in fields(settings)}
    made: object = kind(**{name: value for name, value in given.items() if name in known})
    return made


def _pool_opponents(name: str, settings: Settings) -> list[Opponent]:
    """The three variants at one setting; half of the budget is for transitions, which are what is attacked."""
    half_epsilon, half_delta = settings.epsilon / 2, settings.delta / 2
    query_scale, transition_scale = 2 / half_epsilon, 1 / half_epsilon
    threshold = threshold_for(2, query_scale, half_delta)
    scene = PairScene(trials=settings.trials, crowd=threshold + round(20 * query_scale))
    made = [
        PoolRelease(
            variant=variant,
            pool=scene.known_queries(),
            queries_per_person=2,
            clicks_per_person=0,
            transitions_per_person=1,
            query_scale=query_scale,
            transition_scale=transition_scale,
            query_threshold=threshold,
            transition_threshold=threshold_for(1, transition_scale, half_delta),
        )
        for variant in ("as-published", "strict", "thresholded")
    ]
    return [
        Opponent(
            name=f"{name} ({mechanism.variant})",
            target="pair of queries",
            guarantee=mechanism.guarantee(FACTS),
            scene=scene,
            publish=publishes_pool_table(mechanism, "transitions"),
        )
        for mechanism in made
    ]


def publisher_of(mechanism: HistogramMechanism | KQueryAnonymity | KSessionAnonymity | KKeywordAnonymity) -> Publisher:
    """What a mechanism shows of single queries (of single words, these are also keywords and visits)."""

    def publish(log: Table, noise: Noise) -> dict[str, float]:
        match mechanism:
            case KQueryAnonymity():
                return _by_text(mechanism.run(log, noise).table, "user_query")
            case KSessionAnonymity():
                return _by_text(mechanism.run(log, noise).table, "keywords")
            case KKeywordAnonymity():
                return _by_item(mechanism.run(log, noise).table)
            case _:
                return _by_item(mechanism.run(contributions(log, KINDS["queries"]), noise).table)

    return publish


def publishes_pool_table(mechanism: PoolRelease, table: Literal["queries", "clicks", "transitions"]) -> Publisher:
    """What the pool release shows in one of its tables."""

    def publish(log: Table, noise: Noise) -> dict[str, float]:
        return _by_item(mechanism.run(log, noise).tables()[table])

    return publish


def publishes_clicks(mechanism: ClickCounts, results: Sequence[tuple[str, str]]) -> Publisher:
    """What click counts show of a public list of queries and results."""

    def publish(log: Table, noise: Noise) -> dict[str, float]:
        kind = KINDS["clicks"]
        data = ClickData(contributions(log, kind), public_list(log, results, kind.columns))
        return _by_item(mechanism.run(data, noise).table)

    return publish


def _by_text(table: Table, column: str) -> dict[str, float]:
    rows = table.rows(f"select {column}, count(*) from {{table}} group by {column}")
    return {str(text): float(str(count)) for text, count in rows}


def _by_item(table: pa.Table) -> dict[str, float]:
    """Items and counts; the count is the one column of integers, and 1 where there is none."""
    items = [field.name for field in table.schema if not pa.types.is_integer(field.type)]
    numbers = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    counts = table.column(numbers[0]).to_pylist() if numbers else [1] * len(table)
    columns = zip(*(table.column(name).to_pylist() for name in items), strict=True)
    return {SEPARATOR.join(map(str, item)): float(str(count)) for item, count in zip(columns, counts, strict=True)}
