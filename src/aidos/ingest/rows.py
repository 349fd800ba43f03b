"""Rows of any kind of file, one at a time, for the schemas that Python reads: rankings, ratings, pairs, documents.

Tables have a line of names; cells may stand between double quotes, in TSV as well, and then hold delimiters and line
ends. JSON lines hold one object each. TREC runs have query, Q0, document, rank, score and tag, with white space
between. Parquet is read by whole columns. What cannot be read is told in the words of the schema, with its line.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic_core import from_json

from aidos.errors import Problem
from aidos.ingest.formats.fields import Document, UnreadableError, decimal, load_document
from aidos.ingest.problems import Catalogue, describe, refuse
from aidos.ingest.sources import Source, first_text, is_text, opened_lines

__all__ = [
    "DAMAGED",
    "RUN_FIELDS",
    "Floats",
    "as_numbers",
    "as_texts",
    "duplicate_columns",
    "is_number",
    "is_text_like",
    "json_rows",
    "looks_like_run",
    "numbers_of_texts",
    "opened_parquet",
    "run_rows",
    "table_rows",
]

Floats = NDArray[np.float64]
BUFFER = 1 << 20
DAMAGED = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What reading raises where a Parquet file is damaged."""
RUN_FIELDS = 6
USUAL = ",;|\t"
QUOTES = "a quoted cell does not end where it should"


def table_rows(
    source: Source, catalogue: Catalogue, delimiter: str = ""
) -> tuple[list[str], Iterator[tuple[int, list[str] | Problem]]]:
    """The names of the columns, and the numbered rows but for blank ones; a problem for each that cannot be read.

    InputError when there is no line with names.
    """
    rows = _rows(source, catalogue, delimiter or _delimiter(first_text(source)))
    _, names = next(rows, (0, describe("empty-file", source.name)))
    if isinstance(names, Problem):
        raise refuse(names)
    return names, rows


def duplicate_columns(
    source: Source, catalogue: Catalogue, names: Sequence[str], wanted: Sequence[str]
) -> list[Problem]:
    """Columns that are needed and stand in the file more than once."""
    return [
        catalogue.tell("duplicate-columns", source.name, column=name)
        for name in dict.fromkeys(wanted)
        if names.count(name) > 1
    ]


def _delimiter(start: str) -> str:
    """What the names in the first line stand apart by: names, unlike ids, have no delimiters in them."""
    first = next((line for line in start.splitlines() if line.strip()), "")
    return max(USUAL, key=first.count)


def _rows(source: Source, catalogue: Catalogue, delimiter: str) -> Iterator[tuple[int, list[str] | Problem]]:
    with opened_lines(source) as lines:
        reader = csv.reader((line for _, line in lines), delimiter=delimiter, strict=True)
        width = 0
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield line, catalogue.tell("bad-line", source.name, lines=(line,), reason=QUOTES)
                continue
            width = width or len(row)
            if not is_text("".join(row)):
                yield line, catalogue.tell("invalid-utf8", source.name, lines=(line,))
            elif len(row) == width:
                if row:
                    yield line, row
            elif any(map(str.strip, row)):
                yield line, catalogue.tell("ragged-rows", source.name, lines=(line,), expected=width)


def json_rows(source: Source, catalogue: Catalogue) -> Iterator[tuple[int, Document | Problem]]:
    """The numbered documents of JSON lines; a problem for each line that is none."""
    with opened_lines(source) as lines:
        for number, line in lines:
            try:
                document = _load(line)
            except UnreadableError as bad:
                kind = "bad-json" if is_text(line) else "invalid-utf8"
                yield number, catalogue.tell(kind, source.name, lines=(number,), reason=bad.sentence)
                continue
            if document is None:
                continue
            if not line.isascii() and not is_text(line):
                yield number, catalogue.tell("invalid-utf8", source.name, lines=(number,))
            else:
                yield number, document


def _load(line: str) -> Document | None:
    """The document of a line, by the quicker parser where it is a plain object; the other one knows what is wrong."""
    try:
        document = from_json(line)
    except (ValueError, TypeError):  # TypeError: bytes that are no UTF-8, which come as lone surrogates
        return load_document(line)
    if type(document) is not dict or len(document) == 1 or "_source" in document:
        return load_document(line)
    return document


def run_rows(source: Source) -> Iterator[tuple[int, list[str], str]]:
    """The numbered lines of a TREC run in fields, and the kind of trouble with each, if any."""
    with opened_lines(source) as lines:
        for number, line in lines:
            fields = line.split()
            if len(fields) == RUN_FIELDS and is_text(line):
                yield number, fields, ""
            elif fields:
                yield number, fields, "ragged-rows" if is_text(line) else "invalid-utf8"


def looks_like_run(line: str) -> bool:
    """Whether a line has the six fields of a run, numbers where they belong."""
    fields = line.split()
    return len(fields) == RUN_FIELDS and bool(numbers_of_texts(fields[3:5]).sum() < math.inf)


def numbers_of_texts(cells: Sequence[str], *, otherwise: float = math.nan) -> Floats:
    """Numbers written out; not a number where the cell is blank, ``otherwise`` where it holds something else."""
    written = "".join(cells)
    if written.isascii() and "_" not in written:  # Python reads 1_000 as a number, and digits of every script
        try:
            return np.array(list(map(float, cells)), dtype=np.float64)
        except ValueError:
            pass
    return np.array([_number(cell.strip(), otherwise) for cell in cells], dtype=np.float64)


def _number(cell: str, otherwise: float) -> float:
    if not cell:
        return math.nan
    try:
        return decimal(cell, "")
    except UnreadableError:
        plain = cell.lower().lstrip("+-")
        return math.inf if plain in {"inf", "infinity"} else otherwise


def opened_parquet(source: Source) -> pq.ParquetFile:
    """The file, its pages read as they are needed; InputError when it is no whole Parquet file.

    Texts come as numbers of the words in a dictionary, which spares most of their decoding. Those that Polars wrote as
    views do too: Arrow cannot pick single views.
    """
    try:
        with pq.ParquetFile(source.path) as looked_at:
            schema, metadata = looked_at.schema_arrow, looked_at.metadata
        texts = [field.name for field in schema if field.type in {pa.string(), pa.string_view()}]
        return pq.ParquetFile(
            source.path, metadata=metadata, read_dictionary=texts, buffer_size=BUFFER, pre_buffer=False
        )
    except DAMAGED as error:
        raise refuse(describe("unreadable-file", source.name, reason="it is not a whole Parquet file")) from error


def is_text_like(kind: pa.DataType) -> bool:
    """Whether values of that type can be ids."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
    return any(is_it(inner) for is_it in texts) or pa.types.is_integer(inner) or pa.types.is_floating(inner)


def is_number(kind: pa.DataType) -> bool:
    """Whether values of that type are numbers."""
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(is_it(kind) for is_it in numbers)


def as_texts(column: pa.Array[Any]) -> pa.Array[Any]:
    """Ids as texts: numbers written out (7.0 as 7), empty where there is none."""
    if pa.types.is_floating(column.type):
        whole = column.cast(pa.int64(), safe=False)
        if pc.all(pc.equal(whole.cast(column.type), column)).as_py() is not False:
            column = whole
    texts = column.cast(pa.string())
    return texts.fill_null("") if texts.null_count else texts


def as_numbers(column: pa.Array[Any]) -> Floats:
    """Numbers, not a number where there is none."""
    numbers: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers
