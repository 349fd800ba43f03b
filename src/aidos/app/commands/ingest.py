"""`aidos ingest`: files of any known format into one Parquet file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.console import Common, open_engine, show_json, tell
from aidos.app.reading import HowToRead

__all__ = ["ingest"]


def ingest(
    files: Sequence[str],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    normalise: str = "",
    session_gap: float | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Read search logs, posts or runs of any known format into one Parquet file.

    The file has the columns of aidos (client_id, timestamp, user_query...). It
    is written whole or not at all: when anything is wrong with the input,
    nothing is written and every problem is told.

    For example:
        aidos ingest log.tsv.gz -o log.parquet
        aidos ingest 'logs/*.csv' --column client_id=visitor -o log.parquet
        aidos ingest log.tsv --normalise all --session-gap 30 -o log.parquet

    Parameters
    ----------
    files
        Files or glob patterns; gzip and zstandard are read as they are.
    output
        The Parquet file to write.
    normalise
        What to do to queries: all, or some of nfkc,case,white-space,control-characters. Nothing unless given.
    session_gap
        Begin a new session after so many minutes without an action; sessions stay as the file has
        them unless given.
    """
    from aidos.ingest.reading import read_files, write_log

    common = common or Common()
    options = (how or HowToRead()).options(normalise=normalise, session_gap=session_gap)
    with open_engine(common) as engine:
        reading = read_files(engine, files, options)
        rows = write_log(reading, output)
        skipped = {problem.kind: problem.count for problem in reading.problems}
    unused = {file.file: file.spool.unused for file in reading.files if file.spool is not None and file.spool.unused}
    for file, columns in unused.items():
        tell(f"note: {file}: not read: {', '.join(column.name for column in columns)}", quiet=common.quiet)
        for column in filter(lambda column: column.option, columns):
            tell(f"note: {file}: {column.name} could be {column.could_be}: {column.option}", quiet=common.quiet)
    for note in reading.notes:
        tell(f"note: {note}", quiet=common.quiet)
    for problem in reading.problems:
        noun = "row" if problem.count == 1 else "rows"
        tell(f"skipped {problem.count:,} {noun}: {problem}", quiet=common.quiet)
    if common.json:
        left = {file: [column.name for column in columns] for file, columns in unused.items()}
        said = {"file": str(output), "rows": rows, "schema": reading.schema.name, "skipped": skipped}
        show_json({**said, "unused": left})
    else:
        tell(f"{output}: {rows:,} rows ({reading.schema.title})", quiet=common.quiet)
    return 0
