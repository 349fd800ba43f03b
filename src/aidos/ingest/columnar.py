"""Parquet files: read lazily by the engine, their columns cast to the schema's types.

Files that aidos wrote, the two StackExchange layouts, and any other with columns that can be mapped by name. Rows are
numbered in place of lines. Nothing is copied: the engine reads the columns it needs when it needs them.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from aidos.core.records import Column, Schema
from aidos.engine.embedded import EmbeddedEngine, quote_name, quote_text
from aidos.errors import AidosError, Problem
from aidos.ingest.advice import ROWS_LOOKED_AT, Look, Unused, heard_columns, look_at, missing_columns, unused_columns
from aidos.ingest.columns import check_given, choose_schema, map_columns
from aidos.ingest.formats.stackexchange import PARQUET_LAYOUTS, ParquetLayout
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import LINES_SHOWN, describe
from aidos.ingest.sources import Source
from aidos.ingest.spool import ABSENT, ROW, Spool, epoch_sql, time_sql, utc_sql

__all__ = ["ColumnarFile", "read_parquet"]

NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
LONGEST_CELL = 200
"""Characters of a cell that are looked at for advice."""
FRACTIONS = ("FLOAT", "DOUBLE", "DECIMAL")


@dataclass(frozen=True, slots=True)
class ColumnarFile:
    """How a Parquet file's columns become those of a schema."""

    title: str
    why: str
    layout: ParquetLayout
    types: Mapping[str, str]
    """The file's columns and their types in the engine; fields of structs by dotted names."""
    problems: tuple[Problem, ...]
    by_aidos: bool
    unused: tuple[Unused, ...] = ()


def read_parquet(
    engine: EmbeddedEngine, source: Source, options: ReadOptions
) -> tuple[ColumnarFile | None, Spool | Problem]:
    """The file's rows, and how they were understood."""
    try:
        footer = pq.ParquetFile(source.path)
        arrow, rows, metadata = footer.schema_arrow, footer.metadata.num_rows, footer.metadata.metadata or {}
        footer.close()
    except (pa.ArrowException, OSError):
        return None, describe("unreadable-file", source.name, reason="it is not a whole Parquet file")
    types = _types(engine, source)
    file = _understand(engine, source, arrow, types, options, metadata)
    if not rows and not options.for_release:
        file = replace(file, problems=(*file.problems, describe("header-only", source.name)))
    problems = [] if file.problems else _bad_numbers(engine, source, file, options)
    spool = Spool(
        schema=file.layout.schema,
        sql=f"select {_projection(file, options)}, file_row_number as {ROW} from {_relation(source)}",
        lines_of=lambda wanted: {row: row + 1 for row in wanted},
        columns=file.layout.columns,
        unused=file.unused,
        problems=(*file.problems, *problems),
        in_order=not file.by_aidos,
    )
    return file, spool


def _relation(source: Source) -> str:
    return f"read_parquet({quote_text(str(source.path))}, binary_as_string = true, file_row_number = true)"


def _types(engine: EmbeddedEngine, source: Source) -> dict[str, str]:
    """Columns and types as the engine sees them, fields of structs under their dotted names too."""
    described = engine.run(f"describe select * exclude (file_row_number) from {_relation(source)}")
    types = {str(row[0]): str(row[1]) for row in described}
    for name, declared in list(types.items()):
        if declared.startswith("STRUCT") and not declared.endswith("[]"):
            inner = engine.run(f"describe select unnest({quote_name(name)}) from {_relation(source)}")
            types |= {f"{name}.{row[0]}": str(row[1]) for row in inner}
    return types


def _understand(  # noqa: PLR0913, PLR0917
    engine: EmbeddedEngine,
    source: Source,
    arrow: pa.Schema,
    types: Mapping[str, str],
    options: ReadOptions,
    metadata: Mapping[bytes, bytes],
) -> ColumnarFile:
    by_aidos, absent = b"aidos.schema" in metadata, metadata.get(ABSENT.encode(), b"").decode().split(",")
    names = [name for name in types if ("." not in name or name in arrow.names) and name not in absent]
    check_given(options.columns())
    known = next((layout for layout in PARQUET_LAYOUTS if set(layout.columns.values()) <= set(names)), None)
    if known is not None and not options.columns():
        used = {**known.columns, "scope": known.scope}
        unused = unused_columns(names, known.schema, used, None)
        return ColumnarFile(known.title, "it has the columns of that layout", known, types, (), by_aidos, unused)
    schema = choose_schema(names, options.columns())
    mapping = map_columns(names, schema, options.columns())
    nested = _nested(source, schema, mapping, types, options)
    problems = [*_duplicates(source, arrow), *nested]
    looks = None if options.for_release else _looks(engine, source, heard_columns(names, schema, mapping))
    missing = missing_columns(source.name, names, schema, mapping, line=None, needed=options.needed, looks=looks)
    offered = " ".join(found.option for found in nested)
    problems += [found for found in missing if f"{found.column}=" not in offered]
    usable = {column: name for column, name in mapping.items() if name in types and not _is_nested(types[name])}
    why = "aidos wrote it" if by_aidos else "by its first bytes and the names of its columns"
    layout = ParquetLayout(f"Parquet ({schema.title})", schema, usable)
    unused = unused_columns(names, schema, mapping, looks)
    return ColumnarFile(layout.title, why, layout, types, tuple(problems), by_aidos, unused)


def _looks(engine: EmbeddedEngine, source: Source, names: Sequence[str]) -> dict[str, Look]:
    """What the first cells of some columns look like; nothing of columns that hold no text."""
    looks: dict[str, Look] = {}
    for name in names:
        cell = f"coalesce(left(cast({quote_name(name)} as varchar), {LONGEST_CELL}), '')"
        with suppress(duckdb.Error, AidosError):
            cells = engine.run(f"select {cell} from {_relation(source)} limit {ROWS_LOOKED_AT}")
            looks |= look_at([name], ([str(cell)] for (cell,) in cells))
    return looks


def _duplicates(source: Source, arrow: pa.Schema) -> list[Problem]:
    counted = Counter(name.lower() for name in arrow.names)
    return [describe("duplicate-columns", source.name, column=name) for name, count in counted.items() if count > 1]


def _nested(
    source: Source, schema: Schema, mapping: Mapping[str, str], types: Mapping[str, str], options: ReadOptions
) -> list[Problem]:
    """Nested columns; where a field inside is what a column of the schema needs, say how to reach it."""
    problems = []
    for name, declared in types.items():
        if not _is_nested(declared) or name.partition(".")[0] in types.keys() - {name}:
            continue
        fields = [dotted for dotted in types if dotted.startswith(f"{name}.") and not _is_nested(types[dotted])]
        reach = map_columns([field.rpartition(".")[2] for field in fields], schema, {})
        wanted = {column: f"{name}.{field}" for column, field in reach.items() if mapping.get(column, name) == name}
        is_reached = any(given.startswith(f"{name}.") for given in options.columns().values())
        found = describe("nested-types", source.name, column=name)
        if wanted:
            listed = " ".join(f"--column {shlex.quote(f'{column}={field}')}" for column, field in wanted.items())
            problems.append(replace(found, remedy="name the fields inside that are needed", option=listed))
        elif not is_reached:
            problems.append(found)
    return problems


def _is_nested(declared: str) -> bool:
    return declared.startswith(("STRUCT", "MAP", "UNION")) or declared.endswith("]")


def _projection(file: ColumnarFile, options: ReadOptions) -> str:
    return ", ".join(
        f'{_expression(file, column, options)} as "{column.name}"' for column in file.layout.schema.columns
    )


def _expression(file: ColumnarFile, column: Column, options: ReadOptions) -> str:
    name = file.layout.columns.get(column.name)
    if name is None:
        return _derived(file, column)
    place = _place(name, file.types)
    declared = file.types[name]
    if column.type == "TIMESTAMP":
        return _time(place, declared, options.time_format)
    if column.type != "VARCHAR":
        return f"try_cast({place} as {column.type})"
    text = _text(place, declared)
    if column.name in file.layout.scoped:
        return f"{quote_name(file.layout.scope)} || '/' || {text}"
    return options.normalise.sql(f"({text})") if column.name == "user_query" else text


def _derived(file: ColumnarFile, column: Column) -> str:
    if file.layout.schema.name == "search-log" and column.name == "action":
        clicked = file.layout.columns.get("object_id")
        return f"if({_place(clicked, file.types)} is null, 'query', 'click')" if clicked else "'query'"
    return f"cast(null as {column.type})"


def _place(name: str, types: Mapping[str, str]) -> str:
    """The column, or the field of a struct when the name is dotted and no column is called so."""
    outer, _, inner = name.partition(".")
    return f"{quote_name(outer)}.{quote_name(inner)}" if inner and outer in types else quote_name(name)


def _text(place: str, declared: str) -> str:
    if declared.startswith(FRACTIONS):  # ids that went through a data frame with gaps: 7.0 was 7
        return f"if({place} = floor({place}), cast(try_cast({place} as bigint) as varchar), cast({place} as varchar))"
    return f"nullif(cast({place} as varchar), '')"


def _time(place: str, declared: str, time_format: str) -> str:
    if declared.startswith((*NUMBERS, *FRACTIONS)):
        return epoch_sql(f"cast({place} as double)")
    if declared == "TIMESTAMP WITH TIME ZONE":
        return utc_sql(place)
    if declared != "VARCHAR":
        return f"try_cast({place} as timestamp)"
    return time_sql(place, time_format)


def _bad_numbers(engine: EmbeddedEngine, source: Source, file: ColumnarFile, options: ReadOptions) -> list[Problem]:
    """Values that are there but are no numbers where the schema wants one."""
    problems = []
    for column in file.layout.schema.columns:
        name = file.layout.columns.get(column.name)
        if name is None or column.type not in {"INTEGER", "DOUBLE"} or file.types[name] == column.type:
            continue
        lost = f"{_place(name, file.types)} is not null and {_expression(file, column, options)} is null"
        count, rows = engine.run(
            f"select count(*), min(file_row_number, {LINES_SHOWN}) from {_relation(source)} where {lost}"
        )[0]
        if count:
            lines = [row + 1 for row in rows]  # type: ignore[attr-defined]
            problems.append(describe("bad-number", source.name, lines=lines, count=int(str(count)), column=name))
    return problems
