"""What the rows of an exposure directory must be before anything is looked up by the numbers in them.

Numbers of posts, members and words are places in arrays; one that is out of range would read memory that is not theirs.
Arrays are checked by `aidos.engine.sealed`, tables here: no gaps, every number within what there is, lists of the
length they must have, rows in the order that searches rely on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aidos.engine.sealed import damage
from aidos.rooms.exposure.queries.layout import (
    AGAIN,
    EXPOSURE_COLUMNS,
    MEMBER_COLUMNS,
    POST_COLUMNS,
    QUERY_COLUMNS,
    WORD_COLUMNS,
)
from aidos.rooms.exposure.queries.overlay import ADDED, SCHEMAS, SINGLES, Overlay, query_keys
from aidos.rooms.exposure.queries.settings import SearchExposure

__all__ = ["Columns", "Sizes", "check_overlay"]

SOME = (0, 1 << 62)
"""Any number that counts something."""
TIMES = (-62_135_596_800_000_000, 253_402_300_800_000_000)
"""Microseconds from the year 1 to the end of the year 9999, which is what calendars can tell."""
Limits = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the rows of a file have to be."""

    schema: pa.Schema
    limits: Limits
    """The smallest number of a column, and the first that is too large."""

    def problem(self, table: pa.Table) -> str:
        """What is wrong with some rows; empty where nothing is."""
        if any(column.null_count for column in table.columns):
            return "it has gaps"
        for name in set(self.limits) & set(table.column_names):
            values: Any = table.column(name)
            if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
                values = pc.list_flatten(values)
            found: Any = pc.min_max(values.cast(pa.int64())).as_py()
            low, end = self.limits[name]
            if values.null_count or (len(values) and not (low <= found["min"] and found["max"] < end)):
                return f"the column {name} holds values that cannot be"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many there are, which is where their numbers end."""

    posts: int
    members: int
    words: int
    k: int

    def columns(self) -> dict[str, Columns]:
        """What the Parquet files have to hold, by name or by directory."""
        member, post, word = (0, self.members), (0, self.posts), (0, self.words)
        told = {"first": word, "second": (-1, self.words), "documents": (0, self.posts + 1), "evenness": (0, 101)}
        places = dict.fromkeys(("first_row", "partition", "exposures", "chunk", "queries"), SOME)
        return {
            "posts": Columns(schema=POST_COLUMNS, limits={"member": member, "timestamp": TIMES}),
            "members": Columns(schema=MEMBER_COLUMNS, limits=places),
            "words": Columns(schema=WORD_COLUMNS, limits=places),
            "queries": Columns(schema=QUERY_COLUMNS, limits={**told, "certain": (0, self.k + 1), "posts": post}),
            "exposures": Columns(
                schema=EXPOSURE_COLUMNS, limits={**told, "member": member, "post": post, "rank": (1, self.k + 1)}
            ),
        }


def check_overlay(path: Path, overlay: Overlay, base: Sizes, settings: SearchExposure) -> None:
    """Refuse changes that do not fit what they lie over."""
    now = Sizes(
        posts=base.posts + overlay.added.num_rows,
        members=base.members + overlay.members.num_rows,
        words=base.words + overlay.words.num_rows,
        k=base.k,
    )
    added = {
        "member": (0, now.members),
        "timestamp": TIMES,
        "gap": (0, base.posts + 1),
        "length": (0, settings.longest_post + 1),
        "terms": (0, now.words),
        "frequencies": (1, settings.longest_post + 1),
    }
    columns = {
        **{name: Columns(schema=schema, limits={}) for name, schema in SCHEMAS.items()},
        "added": Columns(schema=ADDED, limits=added),
        "deleted": Columns(schema=SCHEMAS["deleted"], limits={"number": (0, base.posts)}),
        "singles": Columns(
            schema=SINGLES, limits={"word": (0, now.words), "one_posts": (-1, now.posts), "two_posts": (-1, now.posts)}
        ),
        "queries": now.columns()["queries"],
        "exposures": now.columns()["exposures"],
        "counts": Columns(schema=SCHEMAS["counts"], limits={"tokens": SOME, "cut_posts": SOME}),
    }
    for name, has_to_be in columns.items():
        table = getattr(overlay, name)
        if wrong := has_to_be.problem(table) or _shape_problem(name, table, base.k + 1):
            raise damage(path / f"{name}.arrow", wrong, AGAIN)


def _shape_problem(name: str, table: pa.Table, room: int) -> str:
    """What is wrong with the lists and the order of a table."""
    lengths = {field.name: _lengths(table, field.name) for field in table.schema if _is_list(field.type)}
    rising = {"deleted": "number", "singles": "word"}.get(name)
    keys = _numbers(table, rising) if rising else np.zeros(0, dtype=np.int64)
    if name == "queries":
        keys = query_keys(_numbers(table, "first"), _numbers(table, "second"))
    ordered = bool((keys[1:] > keys[:-1]).all())
    if name == "exposures":
        owners = _numbers(table, "member")
        ordered = bool((owners[1:] >= owners[:-1]).all())
    if not ordered:
        return "its rows are out of order"
    if name == "singles" and any((each != room).any() for each in lengths.values()):
        return "its lists have other lengths"
    both = list(lengths.values()) if name in {"added", "queries"} else []
    if both and not np.array_equal(both[0], both[1]):
        return "its lists have other lengths"
    return "it does not have one row" if name == "counts" and table.num_rows != 1 else ""


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind)


def _lengths(table: pa.Table, name: str) -> Any:
    return pc.list_value_length(table.column(name)).to_numpy()


def _numbers(table: pa.Table, name: str) -> Any:
    return table.column(name).to_numpy()
