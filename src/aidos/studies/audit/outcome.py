"""What the experiment on the audit of hidden profiles found: a table for each question.

Only parts that were run have tables. Rows are about made-up accounts, so that nothing here is a finding about anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from aidos.studies.audit.summaries import (
    sum_up_accounts,
    sum_up_alarms,
    sum_up_lists,
    sum_up_loops,
    sum_up_power,
    sum_up_precision,
    sum_up_recovery,
    sum_up_time,
    sum_up_topics,
    sum_up_users,
)
from aidos.studies.parted import Summaries, make_tables, table_rows

__all__ = ["RAW", "Facts", "Outcome"]

RAW: Mapping[str, tuple[str, ...]] = {
    "recovery": ("samples-learned",),
    "topics": ("topics-ranked",),
    "disambiguation": ("lists-told-apart",),
    "users": ("users-told-apart",),
    "time": ("learning-timed",),
    "alarms": ("nothing-judged",),
    "power": ("effects-judged",),
    "world": ("accounts-audited",),
    "loop": ("loops-run",),
}
"""The measured rows of each part, by the name that they are kept under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was measured on."""

    about: str
    """The engines and the world, in words."""
    seed: int = 0
    level: float = 0.05
    """The rate of false alarms that verdicts promise."""


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
            "recovery": ("samples-learned", sum_up_recovery),
            "topics": ("topics-ranked", sum_up_topics),
            "precision": ("topics-ranked", sum_up_precision),
            "disambiguation": ("lists-told-apart", sum_up_lists),
            "users": ("users-told-apart", sum_up_users),
            "time": ("learning-timed", sum_up_time),
            "alarms": ("nothing-judged", sum_up_alarms),
            "power": ("effects-judged", sum_up_power),
            "world": ("accounts-audited", sum_up_accounts),
            "loop": ("loops-run", sum_up_loops),
        }
        return make_tables(self.rows, made)

    def to_json(self) -> dict[str, Any]:
        """Facts and all tables, for machines."""
        return {"facts": asdict(self.facts), **table_rows(self.tables)}
