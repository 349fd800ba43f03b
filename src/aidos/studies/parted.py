"""What experiments of several parts have in common: measured rows by name, tables made of them, and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias

import pyarrow as pa

__all__ = ["Claim", "Summaries", "make_tables", "table_rows"]

Summaries: TypeAlias = Mapping[str, tuple[str, Callable[[pa.Table], pa.Table]]]
"""Tables by name: the measured rows that each is made of, and how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that should be so, and whether it is."""

    finding: str
    holds: bool
    values: Mapping[str, float]
    """The numbers it is read from."""


def make_tables(rows: Mapping[str, pa.Table], summaries: Summaries) -> dict[str, pa.Table]:
    """Every table whose rows were measured."""
    return {name: make(rows[raw]) for name, (raw, make) in summaries.items() if raw in rows}


def table_rows(tables: Mapping[str, pa.Table]) -> dict[str, list[dict[str, Any]]]:
    """The rows of all tables, for machines."""
    return {name: [_clean(row) for row in table.to_pylist()] for name, table in tables.items()}


def _clean(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity and no NaN."""
    return {name: None if isinstance(value, float) and not isfinite(value) else value for name, value in row.items()}
