"""Visits: which actions of a person belong together.

Sessions are by gap (a pause of thirty minutes ends one, unless told otherwise) or by a column of the table. Their ids
never mix people, whatever the file called them.
"""

from __future__ import annotations

from math import isfinite

from aidos.engine.embedded import EmbeddedTable, quote_name
from aidos.engine.sql import sessions_by_column, sessions_by_gap
from aidos.errors import ParameterError

__all__ = ["USUAL_GAP_MINUTES", "with_sessions_by_column", "with_sessions_by_gap"]

USUAL_GAP_MINUTES = 30.0
"""The pause that ends a session by the custom of the field."""


def with_sessions_by_gap(table: EmbeddedTable, minutes: float = USUAL_GAP_MINUTES) -> EmbeddedTable:
    """The search log with session ids by gap, sorted by person and time; nothing runs yet."""
    if not isfinite(minutes) or minutes <= 0:
        raise ParameterError(f"the gap between sessions must be a positive number of minutes, got {minutes}")
    return table.select(sessions_by_gap(minutes))


def with_sessions_by_column(table: EmbeddedTable, column: str = "session_id") -> EmbeddedTable:
    """The search log with session ids from a column; nothing runs yet."""
    if column not in table.columns:
        raise ParameterError(f"the table has no column {column}", hint=f"it has {', '.join(table.columns)}")
    return table.select(sessions_by_column(quote_name(column)))
