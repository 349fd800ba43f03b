"""A released log read back: the directory that `aidos publish` wrote, checked, as counts to build on.

For whoever received a release and wants to use it: `aidos suggest` and `aidos rank` open it here. It is refused when it
is not what its manifest says, when another version of aidos wrote it, or when nothing is in it. Only released numbers
are read, so using them costs no privacy. What it does not promise: where the directory came from (it is not signed).

What a release says, in one shape whatever mechanism made it: items and how much each weighs. Mechanisms write different
tables: items with numbers of people, items without numbers, occurrences (the pool release), visits without names
(k-anonymity). Whoever builds something from a release (suggestions, rankings, a cache) wants the same from all of them:
queries, clicks, pairs of queries and keywords, each with a count. Here one becomes the other.

Only what was released is read, so nothing here costs privacy. What it does not promise: that counts of two releases
compare. They are people in one and occurrences in another, and where a release has no numbers every item counts 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from aidos import __version__
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.ingest.normalise import NORMALISED, prepare
from aidos.rooms.publish.histogram import PEOPLE
from aidos.rooms.publish.items import KINDS
from aidos.rooms.publish.manifest import read_manifest, release_problems, series

__all__ = ["COUNT", "CountedTables", "ReleasedLogTables", "counted_tables", "normalised_query", "open_released"]

COUNT = "count"
"""The column of counts, in every table."""
VISITS = "visits"
TRANSITIONS = "transitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedTables:
    """Items and their counts (whole numbers, at least 1), most first; None where a release has no such kind."""

    queries: pa.Table | None = None
    """user_query, count."""
    clicks: pa.Table | None = None
    """user_query, object_id, count."""
    pairs: pa.Table | None = None
    """user_query, next_query, count."""
    keywords: pa.Table | None = None
    """keyword, count."""
    has_counts: bool = True
    """False where the mechanism publishes items without numbers: every count is then 1."""

    def kinds(self) -> Mapping[str, pa.Table]:
        """The kinds that the release has, by name; a table may be empty."""
        named = {"queries": self.queries, "clicks": self.clicks, "pairs": self.pairs, "keywords": self.keywords}
        return {kind: table for kind, table in named.items() if table is not None}


def counted_tables(tables: Mapping[str, pa.Table]) -> CountedTables:
    """From the tables of a release, by name, as every mechanism writes them; other tables are left aside."""
    found = {kind: counted for kind in KINDS if (counted := _kind(tables, kind)) is not None}
    if VISITS in tables:
        found |= _from_visits(tables[VISITS])
    numbered = [{PEOPLE, COUNT} & set(table.column_names) for name, table in tables.items() if name != VISITS]
    return CountedTables(**found, has_counts=all(numbered))


def _kind(tables: Mapping[str, pa.Table], kind: str) -> pa.Table | None:
    # The pool release calls pairs transitions; no release has both.
    table = tables.get(kind, tables.get(TRANSITIONS) if kind == "pairs" else None)
    columns = KINDS[kind].columns
    if table is None or not set(columns) <= set(table.column_names):
        return None
    number = next((name for name in (PEOPLE, COUNT) if name in table.column_names), None)
    counts = pa.repeat(pa.scalar(1, pa.int64()), len(table)) if number is None else table.column(number)
    made = pa.table({**{name: table.column(name).cast(pa.string()) for name in columns}, COUNT: counts})
    # Noise alone makes a count 0 or less; as a weight it would say less than nothing.
    return _sorted(made.filter(pc.field(COUNT) > 0))


def _from_visits(visits: pa.Table) -> dict[str, pa.Table]:
    """Occurrences in a log without names: of queries in order, or of the keywords of each visit."""
    if "user_query" not in visits.column_names:
        return {"keywords": _keywords(visits, "keywords")}
    ordered = visits.sort_by([("visit", "ascending"), ("place", "ascending")]).combine_chunks()
    before, after = ordered.slice(0, max(len(ordered) - 1, 0)), ordered.slice(1)
    follows = pc.and_(
        pc.equal(before.column("visit"), after.column("visit")),
        pc.not_equal(before.column("user_query"), after.column("user_query")),
    )
    pairs = pa.table({"user_query": before.column("user_query"), "next_query": after.column("user_query")})
    return {
        "queries": _occurrences(ordered.select(["user_query"])),
        "pairs": _occurrences(pairs.filter(follows)),
        "keywords": _keywords(ordered, "user_query"),
    }


def _keywords(visits: pa.Table, column: str) -> pa.Table:
    words = pc.list_flatten(pc.utf8_split_whitespace(visits.column(column).combine_chunks()))
    return _occurrences(pa.table({"keyword": words}).filter(pc.field("keyword") != ""))


def _occurrences(items: pa.Table) -> pa.Table:
    counted = items.group_by(items.column_names).aggregate([([], "count_all")])
    return _sorted(counted.rename_columns([COUNT if name == "count_all" else name for name in counted.column_names]))


def _sorted(counted: pa.Table) -> pa.Table:
    items = [name for name in counted.column_names if name != COUNT]
    order: list[tuple[str, Literal["ascending", "descending"]]] = [(COUNT, "descending")]
    order += [(name, "ascending") for name in items]
    return counted.select([*items, COUNT]).sort_by(order).combine_chunks()


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
