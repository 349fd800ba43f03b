"""The shape of every result: one number a row, with the setting that it is about.

Tidy, so that results of all experiments go into one table and any of them can be drawn with any tool. A column that
does not apply is null.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from aidos.studies.utility.plan import Job

__all__ = ["SCHEMA", "result_rows"]

TEXTS = ("experiment", "kind", "mechanism", "method", "measure")
NUMBERS = ("epsilon", "delta", "noise_scale", "value")
COLUMNS = (
    *("experiment", "kind", "mechanism", "epsilon", "delta", "items_per_person", "k", "noise_scale", "threshold"),
    *("halved", "repeat", "method", "measure", "top", "value"),
)


def _type(name: str) -> pa.DataType:
    if name in TEXTS:
        return pa.string()
    if name == "halved":
        return pa.bool_()
    return pa.float64() if name in NUMBERS else pa.int64()


SCHEMA = pa.schema([(name, _type(name)) for name in COLUMNS])
"""Columns of results."""
OF_SETTING = ("mechanism", "epsilon", "delta", "items_per_person", "k", "noise_scale", "threshold", "halved", "repeat")


def result_rows(job: Job, found: Iterable[dict[str, Any]], *, kind: str = "") -> pa.Table:
    """Rows of a job; each needs ``measure`` and ``value``, and may have ``top`` and ``method``."""
    setting = {name: getattr(job.setting, name) for name in OF_SETTING}
    fixed = {"experiment": job.experiment, "kind": kind or job.kind or None, **setting}
    return pa.Table.from_pylist([fixed | row for row in found], schema=SCHEMA)
