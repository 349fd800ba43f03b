"""A released log read back: the directory that `aidos publish` wrote, checked, as counts to build on.

For whoever received a release and wants to use it: `aidos suggest` and `aidos rank` open it here. It is refused when it
is not what its manifest says, when another version of aidos wrote it, or when nothing is in it. Only released numbers
are read, so using them costs no privacy. What it does not promise: where the directory came from (it is not signed).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aidos import __version__
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.ingest.normalise import NORMALISED, prepare
from aidos.rooms.publish.countedtables import COUNT, CountedTables, counted_tables
from aidos.rooms.publish.manifest import read_manifest, release_problems, series

__all__ = ["ReleasedLogTables", "normalised_query", "open_released"]

DIFFERENCES_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedLogTables(CountedTables):
    """What a release says, with where it is and what it promised."""

    directory: Path
    """Where it was read from."""
    version: str
    """The version of aidos that wrote it."""
    statement: str
    """What it promises, in one sentence."""

    def require(self, kind: str) -> pa.Table:
        """The table of a kind (queries, clicks, pairs, keywords), or InputError that says how to publish it."""
        table = self.kinds().get(kind)
        if table is None:
            have = ", ".join(self.kinds())
            raise InputError(
                f"{self.directory} has no {kind}: it has {have}",
                hint=f"ask its owner to publish them too: aidos publish LOG --items {_together(self, kind)} -o DIR",
            )
        if not len(table):
            raise InputError(
                f"{self.directory} has no {kind}: none passed the threshold",
                hint="ask its owner for a release with a larger epsilon, fewer kinds of items, or more people's data",
            )
        return table


def open_released(path: Path) -> ReleasedLogTables:
    """Read a release; InputError when it is none, damaged, of another version, no search log, or empty."""
    manifest = read_manifest(path)
    written = _readable_version(path, manifest.get("aidos"))
    _refuse_damage(path, manifest["files"])
    counted = _counted(path)
    if not counted.kinds():
        raise InputError(
            f"{path} is no release of a search log: it has no queries, clicks, pairs or keywords",
            hint="name a release of a log: aidos publish LOG --items queries,clicks,pairs -o DIR",
        )
    if not any(map(len, counted.kinds().values())):
        raise InputError(
            f"{path} is an empty release: nothing passed the threshold",
            hint="ask its owner for a release with a larger epsilon, fewer kinds of items, or more people's data",
        )
    return ReleasedLogTables(
        queries=counted.queries,
        clicks=counted.clicks,
        pairs=counted.pairs,
        keywords=counted.keywords,
        has_counts=counted.has_counts,
        directory=path,
        version=written,
        statement=str(manifest.get("statement", "")),
    )


def _counted(path: Path) -> CountedTables:
    """The tables of a release; checksums may be right and the content may not."""
    try:
        tables = {file.stem: pq.read_table(file) for file in sorted(path.glob("*.parquet"))}
        for table in tables.values():
            table.validate(full=True)
        counted = counted_tables(tables)
        sound = all(column.null_count == 0 for table in counted.kinds().values() for column in table.columns)
        sound = sound and all(table.column(COUNT).type == pa.int64() for table in counted.kinds().values())
    except (OSError, MemoryError, KeyError, TypeError, pa.ArrowException) as error:
        raise InputError(f"{path} is damaged: a table cannot be read", hint="ask for the release again") from error
    if not sound:
        raise InputError(f"{path} is damaged: a table has gaps", hint="ask for the release again")
    return counted


def normalised_query(query: str) -> str:
    """A query as releases have it: `aidos publish` normalises the log's queries, and this does the same to one."""
    with EmbeddedEngine(threads=1) as engine:
        prepare(engine)
        found = engine.run(f"select {NORMALISED.sql('asked')} from (select cast(? as varchar) as asked)", [query])[0][0]
    if not found:
        raise ParameterError("the query is blank", hint="give a query that somebody may have asked")
    return str(found)


def _readable_version(path: Path, written: object) -> str:
    """Versions that differ in their last number only write alike."""
    here = __version__
    if not isinstance(written, str) or not written:
        raise InputError(f"{path} does not say which version of aidos wrote it", hint="ask for the release again")
    if series(written) != series(here):
        raise InputError(
            f"{path} was written by another version of aidos: {written[:20]}, and this is {here}",
            hint="read it with the version that wrote it, or ask for a release made with this one",
        )
    return written


def _refuse_damage(path: Path, files: object) -> None:
    if not isinstance(files, dict) or not all(isinstance(about, dict) for about in files.values()):
        raise InputError(f"{path} has a damaged manifest", hint="ask for the release again")
    if differences := release_problems(path):
        shown = "; ".join(differences[:DIFFERENCES_SHOWN]) + ("; ..." if len(differences) > DIFFERENCES_SHOWN else "")
        raise InputError(f"{path} is damaged: {shown}", hint="ask for the release again, or see: aidos verify DIR")


def _together(released: CountedTables, kind: str) -> str:
    """What to publish so that nothing of this release is lost."""
    return ",".join(dict.fromkeys((*released.kinds(), kind)))
