"""Accounts out of a store and into a new one: Parquet and DuckDB both ways, CSV in.

One row per account: subject_id, attention, relevance, as they stand now (faded, where there is a half-life). With them
go the settings and the number of rankings. What is left behind are the answers, so that ranking ids of the old store
are unknown to the new one, and the quality of searchers' rankings.

CSV files carry no note of the settings that their accounts were made with.
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
from aidos.errors import EngineError, InputError, ParameterError, Problem
from aidos.rooms.fairness.accounts import Accounts
from aidos.rooms.fairness.keeper import StoreKeeper, make_store, read_store
from aidos.rooms.fairness.rankings import Floats
from aidos.rooms.fairness.storetables import StoreTables

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Sheet", "export_accounts", "import_accounts", "read_sheet", "write_sheet"]

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


ROWS_SHOWN = 5


def export_accounts(store: StoreKeeper | Path, target: Path) -> int:
    """Write all accounts to a Parquet file, or to a DuckDB file when the name ends in .duckdb; give their number."""
    path = store.path if isinstance(store, StoreKeeper) else store
    if target.suffix not in {".parquet", ".duckdb"}:
        raise ParameterError(f"{target} is no known format by its name", hint="name it .parquet or .duckdb")
    settings, half_life, accounts = read_store(path)
    note = {"settings": settings, "half_life": half_life, "rankings": accounts.rankings}
    numbers = {"attention": accounts.received(), "relevance": accounts.earned()}
    write_sheet(target, Sheet(names=accounts.names, numbers=numbers, note=note))
    return len(accounts)


def import_accounts(
    path: Path,
    source: Path,
    *,
    settings: Mapping[str, str] | None = None,
    half_life: float | None = None,
    rankings: int | None = None,
) -> int:
    """Make a new store from a Parquet, DuckDB or CSV file; give the number of accounts.

    A file that an export wrote brings settings, half-life and number of rankings along; settings given here must be
    the same. Other files need ``settings``, and count as ``rankings`` rankings (0 unless given).
    """
    if path.exists():
        raise ParameterError(f"{path} exists", hint="import makes a new store: choose another name")
    if rankings is not None and rankings < 0:
        raise ParameterError(f"rankings must be at least 0, got {rankings}")
    if not source.is_file():
        raise InputError(f"{source} is no file", hint="check the name")
    sheet = read_sheet(source)
    _refuse_bad_rows(source, sheet)
    bound, half_life = _bound_to(source, sheet.note, settings, half_life)
    accounts = Accounts(half_life=half_life)
    told = sheet.note.get("rankings", 0)
    counted = rankings if rankings is not None else told if isinstance(told, int) else 0
    names = [str(name) for name in sheet.names]
    accounts.load(names, sheet.numbers["attention"], sheet.numbers["relevance"], rankings=counted)

    def fill(tables: StoreTables) -> None:
        tables.open_subjects(names, first=0)
        tables.fold(accounts)

    if not make_store(path, bound, half_life, fill):
        raise ParameterError(f"{path} exists", hint="import makes a new store: choose another name")
    return len(names)


def _refuse_bad_rows(source: Path, sheet: Sheet) -> None:
    """All that is wrong at once, with the first few rows of each kind."""
    found = list(_problems(source, sheet))
    if found:
        raise InputError("; ".join(map(str, found)), hint=found[0].remedy, problems=found)


def _problems(source: Path, sheet: Sheet) -> Iterator[Problem]:
    def problem(bad: Sequence[int], kind: str, sentence: str, column: str) -> Problem:
        remedy = "give each account once, with finite numbers that are not negative"
        shown = tuple(index + 1 for index in bad[:ROWS_SHOWN])
        return Problem(
            kind=kind,
            file=str(source),
            sentence=f"{column} {sentence}",
            remedy=remedy,
            column=column,
            count=len(bad),
            lines=shown,
            place="row",
        )

    for column, values in sheet.numbers.items():
        for bad, kind, sentence in (
            (np.isnan(values), "not-a-number", "is not a number"),
            (np.isinf(values), "infinite", "is infinite"),
            ((values < 0) & np.isfinite(values), "negative", "is negative"),
        ):
            if bad.any():
                yield problem(np.flatnonzero(bad).tolist(), kind, sentence, column)
    if missing := [index for index, name in enumerate(sheet.names) if name is None]:
        yield problem(missing, "missing", "is missing", "subject_id")
    firsts = {name: index for index, name in reversed(list(enumerate(sheet.names)))}
    if twice := [index for index, name in enumerate(sheet.names) if name is not None and firsts[name] != index]:
        yield problem(twice, "duplicate", "stands in an earlier row already", "subject_id")


def _bound_to(
    source: Path, note: Mapping[str, object], settings: Mapping[str, str] | None, half_life: float | None
) -> tuple[Mapping[str, str], float | None]:
    """What the new store is bound to: what the file tells, what was given, or both when they agree."""
    told = note.get("settings")
    if not isinstance(told, dict):
        if settings is None:
            raise ParameterError(
                f"{source} does not tell the settings of its accounts",
                hint="say which attention model they were counted with",
            )
        return settings, half_life
    if settings is None:
        kept = note.get("half_life")
        return told, kept if isinstance(kept, float) else None
    if dict(settings) != told or half_life != note.get("half_life"):
        names = [name for name in sorted(told.keys() | settings.keys()) if told.get(name) != settings.get(name)]
        raise ParameterError(
            f"the accounts of {source} were made with other settings: {', '.join(names or ['half_life'])} differ",
            hint="leave the settings out to take those of the file",
        )
    return told, half_life
