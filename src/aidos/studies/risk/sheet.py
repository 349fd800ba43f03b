"""The sheet that judges fill in: profiles that were drawn, each with everything the person wrote, oldest first.

A sheet shows people's texts under their pseudonyms. It is written only where somebody asks for it, readable by its
owner alone, and is to be deleted after the judging. Its columns are author_id, topic, judge, relevance and entries;
judge and relevance are blank, and once they are filled in the sheet is a file of judgements (see `judgements`). Every
judge gets a copy; the copies are read together by a pattern.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from aidos.core.plaintext import sheet_cell
from aidos.engine.embedded import EmbeddedTable
from aidos.engine.files import replace_when_done
from aidos.errors import InputError, ParameterError

__all__ = ["write_sheet"]

COLUMNS = ("author_id", "topic", "judge", "relevance", "entries")
KINDS = (("author_id", "text"), ("client_id", "user_query"))
"""Columns of the person and of the words, in posts and in search logs."""


def write_sheet(path: Path, entries: EmbeddedTable | pa.Table, drawn: Mapping[str, Sequence[str]]) -> int:
    """Write a sheet (.csv or .tsv) with the profiles that were drawn, names of people by topic; give their number."""
    if path.suffix not in (".csv", ".tsv"):
        raise ParameterError("a sheet for judges is a .csv or .tsv file", hint="name it so")
    wanted = {name for names in drawn.values() for name in names}
    profiles = _profiles(entries, wanted)
    if absent := len(wanted - set(profiles)):
        raise InputError(f"{absent} of {len(wanted)} people who were drawn have no entries here")
    with (
        replace_when_done(path, private=True) as partial,
        partial.open("w", encoding="utf-8", newline="") as file,
    ):
        write = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n")
        write.writerow(COLUMNS)
        for topic, names in drawn.items():
            write.writerows((name, topic, "", "", sheet_cell("\n".join(profiles[name]))) for name in names)
    return sum(map(len, drawn.values()))


def _profiles(entries: EmbeddedTable | pa.Table, wanted: set[str]) -> dict[str, list[str]]:
    """What each of them wrote, oldest first, a line an entry."""
    held = list(entries.column_names if isinstance(entries, pa.Table) else entries.columns)
    kind = next(((person, words) for person, words in KINDS if person in held and words in held), None)
    if kind is None:
        raise InputError("entries need author_id and text, or client_id and user_query")
    person, words = kind
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    names = pa.array(sorted(wanted), pa.large_string())
    for batch in _batches(entries):
        mine: Any = pa.Table.from_batches([batch])
        mine = mine.filter(pc.is_in(mine[person].cast(pa.large_string()), names))
        for row in mine.to_pylist():
            told = " ".join(str(row[name]) for name in ("title", words) if row.get(name))
            when = str(row["timestamp"])[:10] if row.get("timestamp") else ""
            found[str(row[person])].append(
                (str(row.get("timestamp") or ""), f"{when} {' '.join(told.split())}".strip())
            )
    # A query stands in a log once for the question and once for every click.
    return {name: list(dict.fromkeys(line for _, line in sorted(lines))) for name, lines in found.items()}


def _batches(entries: EmbeddedTable | pa.Table) -> Iterator[pa.RecordBatch]:
    yield from entries.to_batches() if isinstance(entries, pa.Table) else entries.batches()
