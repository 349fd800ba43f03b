"""Pairs as files that `read_pairs` reads back equal: JSON lines or Parquet, one pair each, whole or not at all.

The files hold what somebody searched for, so only their owner may read them. They do not say whose they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aidos.core.resultpairs import SIDES, Fetch, Result, ResultPair
from aidos.engine.files import replace_when_done
from aidos.errors import InputError, ParameterError

__all__ = ["write_pairs"]

ENDINGS = (".jsonl", ".ndjson", ".parquet")
PAIRS_AT_ONCE = 1 << 10
RESULTS = pa.list_(pa.struct([("url", pa.string()), ("title", pa.string()), ("snippet", pa.string())]))
FETCH = pa.struct([("place", pa.string()), ("when", pa.timestamp("us")), ("turn", pa.int64()), ("bucket", pa.string())])
FIELDS: list[tuple[str, pa.DataType]] = [
    ("query", pa.string()),
    ("when", pa.timestamp("us")),
    ("gap", pa.float64()),
    ("place", pa.string()),
    ("vanilla", RESULTS),
    ("personalised", RESULTS),
    ("again", RESULTS),
    ("fetches", pa.struct([(side, FETCH) for side in SIDES])),
]
SCHEMA = pa.schema(FIELDS)


def write_pairs(path: Path, pairs: Sequence[ResultPair]) -> None:
    """Write pairs of organic results as `read_pairs` gives them; the name's ending says how: .jsonl or .parquet."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise ParameterError(
            f"the name {path.name} does not say in which format pairs are to be written",
            hint=f"end it with {', '.join(ENDINGS)}",
        )
    if not pairs:
        raise ParameterError("there is no pair to write")
    with replace_when_done(path, private=True) as partial:
        try:
            if ending == ".parquet":
                _write_parquet(partial, pairs)
            else:
                with partial.open("w", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(_lines(pairs))
        except UnicodeEncodeError as error:
            raise InputError(
                "a text holds half of a character pair, which is no text", hint="mend the texts"
            ) from error


def _lines(pairs: Sequence[ResultPair]) -> Iterator[str]:
    for pair in pairs:
        row = _row(pair)
        told = {name: value for name, value in row.items() if value not in (None, "")}
        if row["when"] is not None:
            told["when"] = row["when"].isoformat()
        if pair.fetches:
            told["fetches"] = {side: _told(fetch) for side, fetch in zip(SIDES, pair.fetches, strict=False)}
        yield json.dumps(told, ensure_ascii=False) + "\n"


def _write_parquet(partial: Path, pairs: Sequence[ResultPair]) -> None:
    with pq.ParquetWriter(partial, SCHEMA, compression="zstd") as writer:
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            rows = [_row(pair) for pair in pairs[start : start + PAIRS_AT_ONCE]]
            writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))


def _row(pair: ResultPair) -> dict[str, Any]:
    return {
        "query": pair.query,
        "when": None if pair.fetches else pair.when,
        "gap": None if pair.gap is None else pair.gap.total_seconds(),
        "place": "" if pair.fetches else pair.place,
        "vanilla": [_entry(result) for result in pair.vanilla],
        "personalised": [_entry(result) for result in pair.personalised],
        "again": None if pair.again is None else [_entry(result) for result in pair.again],
        "fetches": {side: asdict(fetch) for side, fetch in zip(SIDES, pair.fetches, strict=False)} or None,
    }


def _told(fetch: Fetch) -> dict[str, Any]:
    known = {name: value for name, value in asdict(fetch).items() if value not in (None, "")}
    return known if fetch.when is None else known | {"when": fetch.when.isoformat()}


def _entry(result: Result) -> dict[str, str]:
    if result.kind != "organic":
        raise ParameterError("only organic results can be written: others are left out when pairs are read")
    # The words of an address are made anew when the pairs are read.
    return {"url": result.url, "title": result.title, "snippet": result.snippet}
