"""A table as CSV that people open in a spreadsheet: nothing in it acts on a spreadsheet or a terminal."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from aidos.core.plaintext import sheet_cell

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_sheet"]


def write_sheet(table: pa.Table, path: Path) -> None:
    """Write the table; see `sheet_cell` for what becomes of texts that would act."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        for batch in table.to_batches():
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            writer.writerows([sheet_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
