"""Counts with noise, those above a threshold: the step where counts of occurrences leave the engine.

The text of items stays in the engine. Only the counts come out, get their noise, and go back as the row numbers that
pass, so that a log with ten million queries costs ten million integers here and not their words. With a seed the rows
are sorted by item, so that a simulation can be repeated.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.core.table import Table
from aidos.engine.embedded import quote_name

__all__ = ["noised_counts"]


def noised_counts(counts: Table, law: DiscreteLaplace, noise: Noise, above: float | None) -> pa.Table:
    """The items with noisy counts, in falling order; only those above the threshold, all when it is None.

    ``counts`` has a column ``count`` of integers; the other columns are the item. Every row gets noise, zeros too.
    """
    items = ", ".join(quote_name(name) for name in counts.columns if name != "count")
    order = f"order by {items}" if noise.is_repeatable else ""
    numbered = counts.select(f"select row_number() over ({order}) as row, {items}, count from {{table}}")
    with numbered.held(label="counting") as held:
        fetched = held.fetch("select row, cast(count as bigint) as count from {table} order by row")
        noisy = _integers(fetched, "count") + law.sample(noise, len(fetched))
        chosen = np.ones(len(noisy), dtype=np.bool_) if above is None else noisy > above
        passing = held.beside(pa.table({"row": _integers(fetched, "row")[chosen], "noisy": noisy[chosen]}))
        joined = f"{{table}} join {passing.name} using (row)"
        return held.fetch(f"select {items}, noisy as count from {joined} order by noisy desc, {items}")


def _integers(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    values: npt.NDArray[np.int64] = table.column(name).to_numpy()
    return values
