"""Accounts out of a store and into a new one: Parquet and DuckDB both ways, CSV in.

One row per account: subject_id, attention, relevance, as they stand now (faded, where there is a half-life). With them
go the settings and the number of rankings. What is left behind are the answers, so that ranking ids of the old store
are unknown to the new one, and the quality of searchers' rankings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from aidos.errors import InputError, ParameterError, Problem
from aidos.rooms.fairness.accounts import Accounts
from aidos.rooms.fairness.storage.keeper import StoreKeeper, read_store
from aidos.rooms.fairness.storage.opening import make_store
from aidos.rooms.fairness.storage.sheets import Sheet, read_sheet, write_sheet
from aidos.rooms.fairness.storage.tables import StoreTables

__all__ = ["export_accounts", "import_accounts"]

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
