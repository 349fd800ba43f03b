"""People of the sample world as searchers: profiles from what they clicked on, and what they searched for afterwards.

The first two of the three months make the profile: the title and snippet of every document that somebody clicked on
goes to the topic that retrieval finds for it. The queries are those of the last month, in order, each text once. What a
query was really about is known where a result was clicked on: the log of the world shows documents of the query's own
topic only. Nothing of that truth goes into profiles or rankings.

Sensitive are the topics that the taxonomy marks. For a taxonomy without marks they are those that documents about the
world's sensitive topics are mapped to more often than others, so that there is something to hide.

Somebody's own log as searchers: what people asked earlier makes their profiles, what they asked later is tried. A query
is a text that somebody asked, once, where she first asked it. The earlier half of hers goes to the topics that the
shield's own search finds, and the later half goes out with that profile. Sensitive are the topics that the taxonomy
marks, for whoever holds them: the shield's default.

Where profiles are named, they take the place of profiles from the log: each goes with each person's first
queries, under its owner's own marks. How common interests are is known from the log's people and these profiles.

What was meant by a query and which results were wanted is known in the sample world alone, so no list is re-ranked. And
a log is from one service and one time: what is found stands for these people and for no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.profile import KeptProfile, Requirement
from aidos.core.progress import SILENT, Progress
from aidos.core.records import SEARCH_LOG
from aidos.core.taxonomy import Profile
from aidos.core.topictree import TopicTree
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.errors import InputError
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.model.topicsearch import TopicHits, TopicSearch
from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile
from aidos.studies.shelf import fingerprint
from aidos.studies.ups.plan import UpsExperiment
from aidos.world.documents import document_blocks
from aidos.world.log import LogMaker
from aidos.world.people import block_count
from aidos.world.size import DAYS_PER_MONTH, MONTHS, START, World
from aidos.world.vocabulary import build_vocabulary

__all__ = [
    "LEAST_QUERIES",
    "LOG",
    "NAMED",
    "PEOPLE",
    "UNKNOWN",
    "Asked",
    "Corpus",
    "Person",
    "Searcher",
    "Society",
    "gather_log",
    "gather_society",
    "identify",
    "marked_topics",
    "read_corpus",
    "read_log",
    "uppermost",
]

Places: TypeAlias = NDArray[np.int32]
LEAST_DOCUMENTS, LEAST_QUERIES = 5, 3
"""People with less are left out: they have no profile, or nothing to try it on."""
UNKNOWN = ""
"""What a query meant, where nobody can tell."""
PEOPLE = "sample world"
"""What its people are called in tables."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """The world's documents, by number."""

    numbers: dict[str, int] = field(repr=False)
    texts: list[str] = field(repr=False)
    """Title and snippet: what a result shows."""
    whole: pa.Table = field(repr=False)
    """Names and full texts, for the search service."""
    topics: list[str] = field(repr=False)
    """What each is about, by the world's truth."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """A query of a searcher."""

    text: str = field(repr=False)
    hits: TopicHits
    """T(q) with relevances."""
    meant: str
    """The topic that it is about in truth; empty where nobody clicked."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Searcher:
    """Somebody with a profile and queries."""

    profile: Profile = field(repr=False)
    queries: tuple[Asked, ...] = field(repr=False)
    requirement: Requirement | None = field(default=None, repr=False)
    """What she marked herself; None where what counts as sensitive for everybody counts for her."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Person:
    """A searcher's profile laid over the tree: made when it is needed, since large trees make it large."""

    held: HeldProfile
    layer: CostLayer
    sensitive: Places
    """Topics that count as sensitive for her, held or not, none above another."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Society:
    """All searchers, and what is public."""

    search: TopicSearch = field(repr=False)
    searchers: tuple[Searcher, ...] = field(repr=False)
    sensitive: Places = field(repr=False)
    """Topics that count as sensitive for whoever holds them, none above another."""
    population: tuple[Profile, ...] = field(repr=False)
    """Profiles from which an observer knows how common interests are."""
    corpus: Corpus | None = field(default=None, repr=False)
    """What was searched in, where that is known with what it is about."""
    name: str = PEOPLE
    """What these people are called in tables."""
    about: str = ""
    """Who they are, in words."""

    @property
    def tree(self) -> TopicTree:
        """The taxonomy as arrays."""
        return self.search.tree

    def person(self, searcher: Searcher) -> Person:
        """Her profile, and what it costs; sensitive topics weigh 1 each unless she gave them weights."""
        held = HeldProfile.of(self.tree, searcher.profile)
        mine = held.supports[self.sensitive] > 0
        if searcher.requirement is None:
            requirement, sensitive = self._usual(self.sensitive[mine]), self.sensitive
        else:
            # What she holds and did not mark is not sensitive for her; of what she does not hold she said nothing.
            requirement = searcher.requirement
            own = [self.tree.place(topic) for topic in requirement.sensitivities]
            sensitive = uppermost(self.tree, [*own, *self.sensitive[~mine].tolist()])
        return Person(held=held, layer=CostLayer.of(self.tree, held, requirement), sensitive=sensitive)

    def _usual(self, places: Places) -> Requirement:
        return Requirement({self.tree.ids[place]: 1.0 for place in places.tolist()})


def read_corpus(world: World) -> Corpus:
    """All documents of a world."""
    table = pa.concat_tables(document_blocks(world))
    wanted = ("object_id", "title", "snippet", "text", "topic")
    columns = {name: [str(value) for value in table.column(name).to_pylist()] for name in wanted}
    return Corpus(
        numbers={name: number for number, name in enumerate(columns["object_id"])},
        texts=[f"{title} {snippet}" for title, snippet in zip(columns["title"], columns["snippet"], strict=True)],
        whole=pa.table(
            {
                "object_id": columns["object_id"],
                "text": [f"{title} {text}" for title, text in zip(columns["title"], columns["text"], strict=True)],
            }
        ),
        topics=columns["topic"],
    )


def gather_society(world: World, search: TopicSearch, asked: UpsExperiment, *, progress: Progress = SILENT) -> Society:
    """The first people of a world who have enough documents and queries, as many as are asked for."""
    corpus = read_corpus(world)
    places = search.map_texts(corpus.texts)
    maker, found = LogMaker.of(world), list[Searcher]()
    with progress.task("reading searchers", total=asked.searchers, unit="people") as task:
        for block in range(block_count(world)):
            for rows in _people(maker.block(block)):
                searcher = _searcher(rows, corpus, places, search, asked.queries_per_searcher)
                if searcher is not None and len(found) < asked.searchers:
                    found.append(searcher)
                    task.advance(1)
                if len(found) == asked.searchers:
                    return _society(world, search, corpus, places, found)
    if len(found) < 2:
        raise InputError(f"{len(found)} people of the world have enough documents and queries", hint="take more people")
    return _society(world, search, corpus, places, found)


def _society(world: World, search: TopicSearch, corpus: Corpus, places: Places, found: Sequence[Searcher]) -> Society:
    marked = marked_topics(search)
    sensitive = marked if len(marked) else _standing_for(world, search.tree, corpus, places)
    population = tuple(searcher.profile for searcher in found)
    return Society(search=search, searchers=tuple(found), sensitive=sensitive, population=population, corpus=corpus)


def _people(log: pa.Table) -> Iterator[list[dict[str, Any]]]:
    """The rows of one person after the other."""
    rows: list[dict[str, Any]] = []
    columns = ["client_id", "timestamp", "user_query", "query_id", "action", "object_id"]
    for row in log.select(columns).to_pylist():
        if rows and row["client_id"] != rows[0]["client_id"]:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _searcher(
    rows: list[dict[str, Any]], corpus: Corpus, places: Places, search: TopicSearch, most: int
) -> Searcher | None:
    """Somebody from her rows of the log; None where there is too little of her."""
    later = START.replace(tzinfo=None) + timedelta(days=DAYS_PER_MONTH * (MONTHS - 1))
    read: Counter[int] = Counter()
    meant: dict[str, str] = {}
    for row in rows:
        number = corpus.numbers.get(row["object_id"]) if row["action"] == "click" else None
        if row["timestamp"] < later:
            if number is not None and places[number] >= 0:
                read[int(places[number])] += 1
        elif row["action"] == "query":
            meant.setdefault(row["user_query"], UNKNOWN)
        elif number is not None:
            meant[row["user_query"]] = corpus.topics[number]
    if read.total() < LEAST_DOCUMENTS or len(meant) < LEAST_QUERIES:
        return None
    asked = (Asked(text=text, hits=search.find(text), meant=topic) for text, topic in list(meant.items())[:most])
    profile = Profile({search.tree.ids[place]: float(count) for place, count in sorted(read.items())})
    return Searcher(profile=profile, queries=tuple(asked))


def marked_topics(search: TopicSearch) -> Places:
    """Topics that the taxonomy marks as sensitive and that have no marked one above them."""
    marked = (place for place, topic in enumerate(search.tree.ids) if search.taxonomy[topic].sensitive)
    return uppermost(search.tree, marked)


def uppermost(tree: TopicTree, places: Iterable[int]) -> Places:
    """Of these places the ones that no other of them is above."""
    found, end = [], 0
    for place in sorted(places):
        if place >= end:
            found.append(place)
            end = place + int(tree.sizes[place])
    return np.array(found, dtype=np.int32)


def _standing_for(world: World, tree: TopicTree, corpus: Corpus, places: Places) -> Places:
    """Topics that mostly sensitive documents of the world are mapped to, the upper ones where they overlap."""
    vocabulary = build_vocabulary(world)
    private = {vocabulary.topics[topic].id for topic in vocabulary.sensitive}
    votes: Counter[int] = Counter()
    for topic, place in zip(corpus.topics, places.tolist(), strict=True):
        if place >= 0:
            votes[place] += 1 if topic in private else -1
    return uppermost(tree, (place for place, vote in votes.items() if vote > 0))


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
        for texts in _chosen_people(log, fewest, asked.seed):
            asker = _Asker.of(texts, search, asked.queries_per_searcher, whole=profiles > 0)
            if profiles or asker.profile.supports:
                people.append(asker)
                task.advance(1)
            if len(people) * max(profiles, 1) >= asked.searchers:
                break
    return people


def _chosen_people(log: EmbeddedTable, fewest: int, seed: int) -> Iterator[list[str]]:
    """What each person asked, in order."""
    chosen = log.select(QUERIES.format(fewest=fewest, seed=seed))
    rows = (row for batch in chosen.batches() for row in batch.to_pylist())
    for _, own in groupby(rows, key=itemgetter("client_id")):
        yield [row["user_query"] for row in own]
