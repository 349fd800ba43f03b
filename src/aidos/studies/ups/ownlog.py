"""Somebody's own log as searchers: what people asked earlier makes their profiles, what they asked later is tried.

A query is a text that somebody asked, once, where she first asked it. The earlier half of hers goes to the topics that
the shield's own search finds, and the later half goes out with that profile. Sensitive are the topics that the taxonomy
marks, for whoever holds them: the shield's default.

Where profiles are named, they take the place of profiles from the log: each goes with each person's first
queries, under its owner's own marks. How common interests are is known from the log's people and these profiles.

What was meant by a query and which results were wanted is known in the sample world alone, so no list is re-ranked. And
a log is from one service and one time: what is found stands for these people and for no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Self

from aidos.core.profile import KeptProfile
from aidos.core.progress import SILENT, Progress
from aidos.core.records import SEARCH_LOG
from aidos.core.taxonomy import Profile
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.errors import InputError
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.model.topicsearch import TopicSearch
from aidos.studies.shelf import fingerprint
from aidos.studies.ups.plan import UpsExperiment
from aidos.studies.ups.searchers import LEAST_QUERIES, UNKNOWN, Asked, Searcher, Society, marked_topics

__all__ = ["LOG", "NAMED", "gather_log", "identify", "read_log"]

LOG, NAMED = "people of the log", "profiles named"
"""What these people are called in tables."""
QUERIES = """
    select client_id, user_query from (
        select client_id, user_query, min("timestamp") as first from {{table}}
        where trim(user_query) <> '' group by client_id, user_query
    ) qualify count(*) over (partition by client_id) >= {fewest}
    order by md5('{seed} ' || client_id), client_id, first, user_query
"""
"""Who is taken where there are more people than are asked for hangs on the seed alone."""


def read_log(engine: EmbeddedEngine, files: Sequence[str], options: ReadOptions) -> EmbeddedTable:
    """A search log with queries in it."""
    read = read_files(engine, files, options)
    if read.schema is not SEARCH_LOG:
        raise InputError(f"the files hold {read.schema.title}: nobody searched there", hint="name a search log")
    if not read.table.rows("select 1 from {table} where trim(user_query) <> '' limit 1"):
        raise InputError("no row of the log has a query", hint="look at it: aidos check FILE")
    return read.table


def gather_log(
    log: EmbeddedTable,
    search: TopicSearch,
    asked: UpsExperiment,
    profiles: Sequence[KeptProfile] = (),
    *,
    progress: Progress = SILENT,
) -> Society:
    """As many searchers as are asked for; InputError where the log has too little, or nobody has anything to hide."""
    fewest = LEAST_QUERIES if profiles else 2 * LEAST_QUERIES
    everybody = log.rows("select count(distinct client_id) from {table} where trim(user_query) <> ''")[0][0]
    people = _askers(log, search, asked, len(profiles), fewest, progress)
    if not people:
        raise InputError(
            f"of {everybody:,} people of the log nobody asked {fewest} different queries"
            + ("" if profiles else ", with one about a topic of the taxonomy in the earlier half"),
            hint="name a longer log of the same people, or another taxonomy",
        )
    searchers = [
        Searcher(profile=kept.profile, queries=asker.queries, requirement=kept.requirement)
        for asker in people
        for kept in profiles
    ] or [Searcher(profile=asker.profile, queries=asker.queries) for asker in people]
    known = [*(asker.profile for asker in people), *(kept.profile for kept in profiles)]
    whose = f"{len(people):,} of {everybody:,} people of a search log"
    several = f"{len(profiles):,} profiles" if len(profiles) > 1 else "a profile"
    society = Society(
        search=search,
        searchers=tuple(searchers[: asked.searchers]),
        sensitive=marked_topics(search),
        population=tuple(profile for profile in known if profile.supports),
        name=NAMED if profiles else LOG,
        about=f"{several} and the queries of {whose}" if profiles else whose,
    )
    if not any(society.person(searcher).layer.total > 0 for searcher in society.searchers):
        raise InputError(
            "nobody of them holds a topic that is marked as sensitive, so that there is nothing to hide",
            hint="name another log, or a taxonomy or profiles with marks",
        )
    return society


def identify(society: Society) -> str:
    """A digest of who they are and what they ask: kept results of others are refused."""
    people = [
        [dict(one.profile.supports), one.requirement and dict(one.requirement.sensitivities)]
        + [query.text for query in one.queries]
        for one in society.searchers
    ]
    return fingerprint([people, [dict(profile.supports) for profile in society.population]])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Asker:
    """Somebody of the log."""

    profile: Profile = field(repr=False)
    """Of what she asked earlier; of everything where her queries go out with other profiles."""
    queries: tuple[Asked, ...] = field(repr=False)

    @classmethod
    def of(cls, texts: Sequence[str], search: TopicSearch, most: int, *, whole: bool) -> Self:
        half = len(texts) // 2
        earlier, later = (texts, texts) if whole else (texts[:half], texts[half:])
        places = search.map_texts(earlier)
        counts = Counter(places[places >= 0].tolist())
        return cls(
            profile=Profile({search.tree.ids[place]: float(count) for place, count in sorted(counts.items())}),
            queries=tuple(Asked(text=text, hits=search.find(text), meant=UNKNOWN) for text in later[:most]),
        )


def _askers(  # noqa: PLR0913, PLR0917 (of what, how many, and who is left out)
    log: EmbeddedTable, search: TopicSearch, asked: UpsExperiment, profiles: int, fewest: int, progress: Progress
) -> list[_Asker]:
    """The people who are taken."""
    people: list[_Asker] = []
    with progress.task("reading searchers", total=None, unit="people") as task:
        for texts in _people(log, fewest, asked.seed):
            asker = _Asker.of(texts, search, asked.queries_per_searcher, whole=profiles > 0)
            if profiles or asker.profile.supports:
                people.append(asker)
                task.advance(1)
            if len(people) * max(profiles, 1) >= asked.searchers:
                break
    return people


def _people(log: EmbeddedTable, fewest: int, seed: int) -> Iterator[list[str]]:
    """What each person asked, in order."""
    chosen = log.select(QUERIES.format(fewest=fewest, seed=seed))
    rows = (row for batch in chosen.batches() for row in batch.to_pylist())
    for _, own in groupby(rows, key=itemgetter("client_id")):
        yield [row["user_query"] for row in own]
