"""Mechanisms as their audience sees them: what each one shows of the items that an attacker looks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pyarrow as pa

from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.rooms.publish.anonymity import KKeywordAnonymity, KQueryAnonymity, KSessionAnonymity
from aidos.rooms.publish.attacks.scenes import SEPARATOR, Publisher
from aidos.rooms.publish.click_counts import ClickCounts, ClickData
from aidos.rooms.publish.items import KINDS, contributions
from aidos.rooms.publish.multi import HistogramMechanism
from aidos.rooms.publish.pool import PoolRelease, public_list

__all__ = ["publisher_of", "publishes_clicks", "publishes_pool_table"]


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
