"""One measure against the truth: a row for every topic, with what is needed to compare measures and roles later.

Rows are plain dictionaries, tables of them have the columns of `SCHEMA`. People whose truth is not known for a topic
are left out of that topic's ranking.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.studies.risk.measures import average_precision, before, found_within, ndcg, percentiles, within_first
from aidos.studies.risk.truth import AFFLICTED, WATCHED, Truth

__all__ = ["SCHEMA", "assess", "tabulate"]

Floats = NDArray[np.float64]
LISTED = pa.list_(pa.float64())

COLUMNS: dict[str, pa.DataType] = {
    "measure": pa.string(),
    "parameter": pa.string(),
    "value": pa.float64(),
    "topic": pa.string(),
    "people": pa.int64(),
    "sensitive": pa.int64(),
    "average_precision": pa.float64(),
    "ndcg": pa.float64(),
    "found": LISTED,
    **{f"{role}_percentiles": LISTED for role in WATCHED},
    **{f"{role}_behind": LISTED for role in WATCHED},
    **{f"{role}_taken": pa.float64() for role in WATCHED},
}
SCHEMA = pa.schema(COLUMNS)
"""``parameter`` and ``value`` say what was varied, null for a measure as it is. ``found`` has for each sensitive person
the chance to be among the first R; for each person of a role there are her percentile and the share of afflicted people
who stand before her (behind), and for all of the role the share of the first R places that they take (taken)."""


def assess(name: str, risks: Floats, truth: Truth, *, varied: tuple[str, float] | None = None) -> list[dict[str, Any]]:
    """The rows of one measure; risks have a row for each person and a column for each topic."""
    if risks.shape != truth.grades.shape:
        raise InputError(f"risks of {risks.shape[0]} people were given for the truth about {truth.grades.shape[0]}")
    parameter, value = varied or (None, None)
    rows = []
    for column, topic in enumerate(truth.topics):
        known = np.isfinite(truth.grades[:, column])
        here, sensitive = risks[known, column], truth.sensitive[known, column]
        row: dict[str, Any] = {
            "measure": name,
            "parameter": parameter,
            "value": value,
            "topic": topic,
            "people": len(here),
            "sensitive": int(sensitive.sum()),
            "average_precision": average_precision(here, sensitive),
            "ndcg": ndcg(here, truth.grades[known, column]) if len(here) else float("nan"),
            "found": found_within(here, sensitive).tolist(),
        }
        roles = {role: flags[known, column] for role, flags in truth.roles.items()}
        rows.append(row | _places(here, roles, int(sensitive.sum())))
    return rows


def tabulate(rows: Iterable[dict[str, Any]]) -> pa.Table:
    """Rows as a table."""
    return pa.Table.from_pylist(list(rows), schema=SCHEMA)


def _places(risks: Floats, roles: dict[str, NDArray[np.bool_]], first: int) -> dict[str, Any]:
    if not roles:
        return {}
    shares, chances = percentiles(risks), within_first(risks, float(first))
    found: dict[str, Any] = {}
    for role, flags in roles.items():
        found[f"{role}_percentiles"] = shares[flags].tolist()
        found[f"{role}_behind"] = before(risks[flags], risks[roles[AFFLICTED]]).tolist() if flags.any() else []
        found[f"{role}_taken"] = float(chances[flags].sum()) / first if first else float("nan")
    return found
