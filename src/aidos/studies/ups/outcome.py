"""What the experiment on profile generalisation found: a table for each question, and what can be read from them.

Only parts that were run have tables. Rows are about made-up people and trees, so that nothing here is a finding about
anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from aidos.studies.parted import Summaries, make_tables, table_rows
from aidos.studies.ups.summaries import (
    compare_rankings,
    sum_up_growth,
    sum_up_guesses,
    sum_up_limits,
    sum_up_quality,
    sum_up_reranking,
    sum_up_sessions,
    sum_up_slopes,
    sum_up_speed,
)

__all__ = ["RAW", "Facts", "Outcome"]

RAW: Mapping[str, tuple[str, ...]] = {
    "speed": ("seeds-timed", "taxonomies-timed"),
    "limits": ("limits-tried",),
    "quality": ("best-compared",),
    "eavesdropper": ("queries-watched", "months-watched"),
    "reranking": ("lists-ordered",),
}
"""The measured rows of each part, by the name that they are kept under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was measured on."""

    about: str
    """The people and the taxonomy, in words."""
    taxonomy: str
    """What the taxonomy is called in tables."""
    topics: int
    """Topics of the taxonomy."""
    seed: int = 0
    usual_limit: float = 0.1
    """The limit that findings are read at."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """Measured rows by name (see `RAW`), and what they were measured on."""

    rows: Mapping[str, pa.Table] = field(repr=False)
    facts: Facts

    def has(self, part: str) -> bool:
        """Whether a part was run."""
        return all(name in self.rows for name in RAW[part])

    @property
    def tables(self) -> dict[str, pa.Table]:
        """Every summary that can be made, by name."""
        made: Summaries = {
            "speed": ("seeds-timed", sum_up_speed),
            "slopes": ("seeds-timed", sum_up_slopes),
            "growth": ("taxonomies-timed", sum_up_growth),
            "limits": ("limits-tried", sum_up_limits),
            "quality": ("best-compared", sum_up_quality),
            "eavesdropper": ("queries-watched", sum_up_guesses),
            "sessions": ("months-watched", sum_up_sessions),
            "reranking": ("lists-ordered", sum_up_reranking),
            "comparisons": ("lists-ordered", partial(compare_rankings, limit=self.facts.usual_limit)),
        }
        return make_tables(self.rows, made)

    def to_json(self) -> dict[str, Any]:
        """Facts and all tables, for machines."""
        return {"facts": asdict(self.facts), **table_rows(self.tables)}
