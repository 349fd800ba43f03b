"""What a utility experiment found: tidy rows, and ways to ask them.

Every number is about the true log, and so is a finding: for its owner, not for release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from aidos.studies.utility.plan import Experiment, UtilityPlan
from aidos.studies.utility.poolgrid import PoolGrid

__all__ = ["Facts", "Outcome"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was measured on."""

    about: str
    """The log, in words."""
    people: int
    kinds: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Kinds of items that the log has none of, and why."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What else is to be known: the memory of the cache, the size of the index."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """Results of one experiment (see `aidos.studies.utility.rows`), and what they were measured on."""

    experiment: Experiment
    plan: UtilityPlan
    results: pa.Table = field(repr=False)
    facts: Facts
    pool: PoolGrid = field(default_factory=PoolGrid)
    """What was tried of the pool release, where it was."""
    rows: tuple[Mapping[str, Any], ...] = field(init=False, repr=False)
    """The results as rows."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(self.results.to_pylist()))

    def find(self, measure: str, **wanted: Any) -> list[Mapping[str, Any]]:
        """Rows of a measure whose columns have these values, in the order of strength, limit, k, and top."""
        found = [
            row
            for row in self.rows
            if row["measure"] == measure and all(row[name] == value for name, value in wanted.items())
        ]
        return sorted(found, key=_order)

    def value(self, measure: str, **wanted: Any) -> float:
        """The mean over repetitions; not a number where there are none."""
        values = [row["value"] for row in self.find(measure, **wanted)]
        return float(np.mean(values)) if values else float("nan")

    def along(self, axis: str, measure: str, **wanted: Any) -> list[tuple[float, float]]:
        """Means of a measure by a column, in its order."""
        places: dict[float, list[float]] = {}
        for row in self.find(measure, **wanted):
            if row[axis] is not None:
                places.setdefault(float(row[axis]), []).append(row["value"])
        return [(place, float(np.mean(values))) for place, values in sorted(places.items())]

    def to_json(self) -> dict[str, Any]:
        """Facts and results, for machines."""
        pool = {"pool": asdict(self.pool)} if self.experiment == "retrieval" else {}
        return {
            "experiment": self.experiment,
            "facts": asdict(self.facts),
            **pool,
            "results": [{name: _clean(value) for name, value in row.items()} for row in self.rows],
        }


def _order(row: Mapping[str, Any]) -> tuple[float, ...]:
    names = ("epsilon", "items_per_person", "k", "noise_scale", "threshold", "top", "repeat")
    return tuple(-1.0 if row[name] is None else float(row[name]) for name in names)


def _clean(value: Any) -> Any:
    """JSON has no infinity and no NaN."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
