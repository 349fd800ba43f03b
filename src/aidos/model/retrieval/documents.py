"""Documents on their way into an index: pairs of a name and a text, or tables of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.errors import InputError, Problem
from aidos.model.text.strings import Strings, arrow_chunks, packed, portions

__all__ = ["Documents", "complain", "read_documents"]

Documents: TypeAlias = (
    "pa.Table | pa.RecordBatch | pa.RecordBatchReader | Iterable[tuple[str, str | None]] | Iterable[pa.RecordBatch]"
)
"""Pairs of a name and a text (None is an empty text), or Arrow tables with a column of each."""

ROWS = 1 << 14
"""Pairs that are taken at once."""
BYTES = 1 << 22
"""Bytes of text that are taken at once from a table."""
NAMED = 5
"""Rows that an error names."""


def read_documents(documents: Documents, columns: tuple[str, str]) -> Iterator[tuple[Strings, Strings]]:
    """Names and texts, some thousand at a time; ``columns`` are those of a table."""
    for batch in _batches(documents):
        names, texts = _columns(batch, columns)
        _, bounds = packed(texts)
        begin = 0
        for portion in portions(bounds, BYTES):
            yield names.slice(begin, len(portion) - 1), texts.slice(begin, len(portion) - 1)
            begin += len(portion) - 1


def complain(kind: str, sentence: str, remedy: str, rows: NDArray[np.int64]) -> InputError:
    """The error for rows (counted from 0 here, from 1 by people); it never quotes them."""
    lines = tuple(int(row) + 1 for row in rows[:NAMED])
    where = f"row{'s' if len(rows) > 1 else ''} {', '.join(map(str, lines))}{', ...' if len(rows) > NAMED else ''}"
    problem = Problem(
        kind=kind, file="documents", sentence=sentence, remedy=remedy, count=len(rows), lines=lines, place="row"
    )
    return InputError(f"{sentence}: {where}", hint=remedy, problems=[problem])


def _batches(documents: Documents) -> Iterator[pa.RecordBatch | tuple[Strings, Strings]]:
    if isinstance(documents, pa.RecordBatch):
        yield documents
        return
    if isinstance(documents, pa.Table):
        yield from documents.to_batches()
        return
    rest: Iterator[Any] = iter(documents)
    for first in rest:
        if isinstance(first, pa.RecordBatch):
            yield first
        else:
            yield _from_pairs([first, *islice(rest, ROWS - 1)])


def _from_pairs(pairs: list[tuple[str, str | None]]) -> tuple[Strings, Strings]:
    try:
        names, texts = zip(*pairs, strict=True)
        return pa.array(names, type=pa.large_string()), arrow_chunks(texts)[0]
    except UnicodeEncodeError as error:
        raise InputError("a document's name holds half of a character", hint="mend the names") from error
    except (TypeError, ValueError) as error:
        raise InputError(
            "documents must be pairs of a name and a text", hint="names and texts are strings; a text may be None"
        ) from error


def _columns(batch: pa.RecordBatch | tuple[Strings, Strings], columns: tuple[str, str]) -> tuple[Strings, Strings]:
    if isinstance(batch, tuple):
        return batch
    if missing := [name for name in columns if name not in batch.schema.names]:
        raise InputError(
            f"the documents have no column {' and no column '.join(missing)}",
            hint=f"say which columns hold names and texts; there are {', '.join(batch.schema.names)}",
        )
    names, texts = (arrow_chunks(batch.column(name))[0] for name in columns)
    return names, texts
