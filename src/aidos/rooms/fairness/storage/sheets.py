"""Files that hold accounts: one row each, with a note of the settings they were made with.

Whether the rows make sense is for the reader to check: here are only the formats. CSV files carry no note.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aidos.core.jsontext import parse_json
from aidos.engine.files import replace_when_done
from aidos.engine.scratch import scratch_directory
from aidos.errors import EngineError, InputError
from aidos.rooms.fairness.rankings import Floats

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Sheet", "read_sheet", "write_sheet"]

COLUMNS = ("subject_id", "attention", "relevance")
NUMBERS = COLUMNS[1:]
NOTE = "aidos.accounts"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sheet:
    """Accounts as a file has them, not checked yet."""

    names: Sequence[str | None]
    numbers: Mapping[str, Floats]
    note: Mapping[str, object]
    """Settings, half-life and rankings, where the file tells."""


def write_sheet(target: Path, sheet: Sheet) -> None:
    """Write Parquet, or DuckDB when the name ends in .duckdb: whole or not at all, for the owner's eyes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({COLUMNS[0]: pa.array(sheet.names, pa.string()), **sheet.numbers})
    note = json.dumps(sheet.note)
    with replace_when_done(target, private=True) as partial:
        if target.suffix == ".duckdb":
            _write_duckdb(partial, table, note)
        else:
            pq.write_table(table.replace_schema_metadata({NOTE: note}), partial)


def read_sheet(source: Path) -> Sheet:
    """The accounts of a Parquet, DuckDB or CSV file, by its name."""
    match source.suffix:
        case ".parquet":
            return _read_parquet(source)
        case ".duckdb":
            return _read_duckdb(source)
        case ".csv":
            return _read_csv(source)
        case _:
            raise InputError(f"{source} is no known format by its name", hint="name it .parquet, .duckdb or .csv")


def _read_parquet(source: Path) -> Sheet:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(source) as file:
            _refuse_missing(source, file.schema_arrow.names)
            table = file.read(columns=list(COLUMNS))
            note = (file.schema_arrow.metadata or {}).get(NOTE.encode(), b"{}")
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source} is not a whole Parquet file", hint="make it again") from error
    return _sheet(source, table, note.decode())


def _read_duckdb(source: Path) -> Sheet:
    import duckdb

    try:
        with duckdb.connect(str(source), read_only=True, config=_settings()) as database:
            tables = {name for (name,) in database.execute("select table_name from duckdb_tables()").fetchall()}
            if "accounts" not in tables:
                raise InputError(f"{source} has no table accounts", hint=f"with columns {', '.join(COLUMNS)}")
            _refuse_missing(source, [row[0] for row in database.execute("describe accounts").fetchall()])
            table = database.sql(f"select {', '.join(COLUMNS)} from accounts").to_arrow_table()
            asked = "select value from facts where name = ?"
            found = database.execute(asked, [NOTE]).fetchone() if "facts" in tables else None
    except duckdb.Error as error:
        raise InputError(
            f"{source} cannot be read as a DuckDB file", hint="make it again, or close it first"
        ) from error
    return _sheet(source, table, found[0] if found else "{}")


def _sheet(source: Path, table: pa.Table, note: str) -> Sheet:
    import pyarrow as pa

    try:
        names = table.column(COLUMNS[0]).cast(pa.string()).to_pylist()
        numbers = {
            # A cell with nothing in it becomes NaN, which is refused like any other NaN.
            name: table.column(name).cast(pa.float64()).to_numpy().astype(np.float64)
            for name in NUMBERS
        }
    except pa.ArrowException as error:
        raise InputError(
            f"{source}: a column has the wrong type", hint="subject_id is text, attention and relevance are numbers"
        ) from error
    return Sheet(names=names, numbers=numbers, note=parse_json(note))


def _read_csv(source: Path) -> Sheet:
    names: list[str | None] = []
    values: list[tuple[float, float]] = []
    try:
        with source.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = next(rows, [])
            _refuse_missing(source, header)
            for name, *numbers in _cells(source, rows, [header.index(column) for column in COLUMNS], len(header)):
                names.append(name)
                values.append((_number(numbers[0]), _number(numbers[1])))
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{source} is not a whole CSV file in UTF-8", hint="save it as UTF-8 with commas") from error
    both = np.array(values, dtype=np.float64).reshape(len(values), 2)
    return Sheet(names=names, numbers={"attention": both[:, 0], "relevance": both[:, 1]}, note={})


def _cells(source: Path, rows: Iterator[list[str]], wanted: Sequence[int], width: int) -> Iterator[tuple[str, ...]]:
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise InputError(
                f"{source}, row {number}: {len(row)} cells where the header has {width}", hint="mend the row"
            )
        yield tuple(row[index] for index in wanted)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def _refuse_missing(source: Path, columns: Sequence[str]) -> None:
    if missing := [name for name in COLUMNS if name not in columns]:
        raise InputError(
            f"{source} has no column {' and no column '.join(missing)}", hint=f"the columns are {', '.join(COLUMNS)}"
        )
    if twice := [name for name in COLUMNS if list(columns).count(name) > 1]:
        raise InputError(f"{source} has the column {twice[0]} twice", hint="keep one")


def _write_duckdb(partial: Path, table: pa.Table, note: str) -> None:
    import duckdb

    try:
        # DuckDB wants to make its file itself, and would let others read it.
        with scratch_directory(partial.parent) as scratch:
            made = scratch / "accounts.duckdb"
            with duckdb.connect(str(made), config=_settings()) as database:
                database.register("exported", table)
                database.execute("create table accounts as select * from exported")
                database.execute("create table facts as select ? as name, ? as value", [NOTE, note])
            shutil.copyfile(made, partial)
    except duckdb.Error as error:
        raise EngineError(
            "the DuckDB file cannot be written", hint="free some space, or choose another place"
        ) from error


def _settings() -> dict[str, str | bool | int | float | list[str]]:
    """Extensions are never fetched from the network."""
    return {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
