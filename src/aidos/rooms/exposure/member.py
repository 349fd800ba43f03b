"""The job of one member: by which queries her posts are found, the most critical first, and what would help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import SHOWN
from aidos.jobs.answer import Finding, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import Private, Short
from aidos.rooms.exposure.computing import InExposure

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, DataTable, Page
    from aidos.report.values import Value
    from aidos.rooms.exposure.critical.community import Community
    from aidos.rooms.exposure.critical.model import Ranker
    from aidos.rooms.exposure.critical.rank import Ranked, Reasons
    from aidos.rooms.exposure.pages import CriticalQuery, MemberStory, PostRemedy, TiedOutQueries
    from aidos.rooms.exposure.queries.records import Exposures
    from aidos.rooms.exposure.queries.remedies import Remedy
    from aidos.rooms.exposure.queries.store import ExposureStore
    from aidos.rooms.exposure.queries.ties import TiedOut

__all__ = [
    "MemberExposure",
    "RankingQueries",
    "ShowMember",
    "in_words",
    "look_up_member",
    "reasons_in_words",
    "texts_of",
]

COLUMNS = ("query", "rank", "match", "ties", "why", "what would help")
SHIPPED = "ranked by the model that comes along, trained on the sample world"
BY_SENSITIVITY = "the order is by the sensitivity of topics, where the post is about them; you know better"
BEGINNING = 60
EXAMPLES = 5
MOST_ROWS = 500_000
"""Pairs of query and post that are looked at: who has more waits no longer, and the rest is counted."""
ABOUT = "the query has a word about "
WITHOUT = "the query has no word about "
"""What a query lacks is no reason that helps anybody."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MemberExposure(Finding):
    """The queries that find one member, for herself."""

    about: str = "one member"
    value: MemberStory
    output: Path | None = None
    """Where her page was written."""
    order: str = ""
    """What the queries were ranked by, where it was not one's own model."""

    def facts(self) -> Mapping[str, object]:
        """Counts, the most critical queries with their posts, and what would help."""
        return {**asdict(self.value), "page": None if self.output is None else str(self.output)}

    def table(self) -> pa.Table:
        """A row for each of the most critical queries."""
        import pyarrow as pa

        rows = [{**asdict(each), "quotation": "".join(text for text, _ in each.quotation)} for each in self._critical]
        return pa.Table.from_pylist(rows)

    def blocks(self) -> Sequence[Block]:
        """The most critical queries."""
        return (self._listed(COLUMNS, map(_row, self._critical)),)

    def remarks(self) -> Sequence[str]:
        """By what they were ranked, unless it was one's own model."""
        return (self.order,) if self.order else ()

    def page(self) -> Page:
        """Her page."""
        from aidos.rooms.exposure.pages import member_page

        return member_page(self)

    def _repr_html_(self) -> str:
        """For a notebook: the same with her posts, the words of the query marked in them."""
        from aidos.report.page import render_blocks
        from aidos.report.values import Marked

        rows = ((*_row(each), Marked(each.quotation)) for each in self._critical)
        return render_blocks((self._listed((*COLUMNS, "post"), rows),))

    @property
    def _critical(self) -> tuple[CriticalQuery, ...]:
        return self.value.critical

    def _listed(self, columns: tuple[str, ...], rows: Iterable[tuple[Value, ...]]) -> DataTable:
        from aidos.report.page import DataTable

        tied = self.value.tied_out.sentence
        otherwise = f" (exposed if ties fall otherwise: {tied})" if tied else ""
        title = f"{self.value.sentence}{otherwise}; the most critical:"
        return DataTable(caption=title, columns=columns, rows=tuple(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingQueries(InExposure):
    """A job that shows queries, the most critical first."""

    top: Annotated[int, Ge(1), SHOWN] = 20
    """How many queries are shown."""
    model: Path | None = None
    """A model that `aidos expose train` wrote, to rank by; the sensitivity of topics if unset."""
    learned: bool = False
    """Rank by the model that comes along instead, which learned on the sample world."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def ranker(self) -> Ranker | None:
        """What they are ranked by; None for sensitivity."""
        from aidos.rooms.exposure.critical.rank import load_ranker

        return load_ranker(self.model, learned=self.learned)

    def order(self) -> str:
        """The same in words; nothing to say where it is one's own model."""
        return "" if self.model else SHIPPED if self.learned else BY_SENSITIVITY


@dataclass(frozen=True, slots=True)
class ShowMember(RankingQueries):
    """Tell a member by which queries her posts are found, the most critical first.

    What is shown is for her alone: a finding. The page is written so that
    only its owner can read it.

    For example:
        aidos expose member ID --in exposure
        aidos expose member - --in exposure -o page.html < id.txt
        aidos expose member ID --in exposure --raw --top 100 --json
    """

    author_id: Annotated[str, Private("name")]
    """The member, as the posts name her, or - for the standard input."""
    _: KW_ONLY
    raw: bool = False
    """Also queries that cleaning leaves out: numbers, names, partial matches."""
    output: Annotated[Path | None, Short("-o")] = None
    """The member's page."""

    def run(self, desk: Desk) -> MemberExposure:
        """Look her up and rank what is found."""
        store = self.store(desk)
        story = look_up_member(store, self, asked=desk.asked)
        found = MemberExposure(value=story, output=self.output, order=self.order())
        if self.output is not None:
            save_page(found.page(), self.output)
        return found


def look_up_member(store: ExposureStore, question: ShowMember, *, asked: str = "") -> MemberStory:
    """Everything a member's page tells."""
    import numpy as np

    from aidos.rooms.exposure.critical.rank import rank_member
    from aidos.rooms.exposure.pages import MemberStory
    from aidos.rooms.exposure.queries.overlay import query_keys
    from aidos.rooms.exposure.queries.remedies import remedies

    ranker, raw = question.ranker(), question.raw
    number = store.member_number(question.author_id)
    rows = store.member(number, MOST_ROWS)
    ranked = rank_member(store, rows, ranker, top=question.top, clean=not raw, partial=raw)
    helps = remedies(store, ranked.rows)
    return MemberStory(
        member=question.author_id,
        k=store.settings.k,
        exposures=len(rows) + store.left_out(number, MOST_ROWS),
        looked_at=len(rows),
        queries=len(np.unique(query_keys(rows.first, rows.second))),
        posts=len(np.unique(rows.posts)),
        sure=int(rows.certain.sum()),
        ranked=ranked.queries,
        dropped=tuple(sorted(ranked.dropped.items(), key=lambda pair: -pair[1])),
        tied_out=_tied_out(store, number),
        critical=tuple(_critical(store, ranked, helps)),
        remedies=tuple(_post_remedies(store, ranked.rows, helps)),
        order=question.order() or "the order is by a model of your own",
        command=asked,
    )


def _tied_out(store: ExposureStore, number: int) -> TiedOutQueries:
    """What misses her by a tie."""
    import numpy as np

    from aidos.rooms.exposure.pages import TiedOutQueries
    from aidos.rooms.exposure.queries.overlay import query_keys

    found = store.tied_out(number)
    keys, places = np.unique(query_keys(found.first, found.second), return_index=True)
    rarest = places[np.argsort(found.documents[places], kind="stable")][:EXAMPLES]
    return TiedOutQueries(
        queries=len(keys),
        posts=len(np.unique(found.posts)),
        examples=tuple(texts_of(store, found.take(rarest))),
        posts_looked_at=found.looked_at,
        left_out=found.left_out,
    )


def _row(found: CriticalQuery) -> tuple[Value, ...]:
    """A query under COLUMNS."""
    match, ties = in_words(whole=found.whole, certain=found.certain)
    return found.query, found.rank, match, ties, "; ".join(found.reasons), " ".join(found.helps[:1])


def in_words(*, whole: bool, certain: bool) -> tuple[str, str]:
    """How much of a query a post holds, and whether it is there however ties fall."""
    return "whole" if whole else "partial", "certain" if certain else "tie"


def _critical(store: ExposureStore, ranked: Ranked, helps: Sequence[Remedy]) -> list[CriticalQuery]:
    """The ranked rows with their posts, reasons and remedies."""
    from aidos.model.text.analyser import Analyser
    from aidos.model.text.excerpts import excerpt
    from aidos.rooms.exposure.pages import CriticalQuery

    rows, analyser = ranked.rows, Analyser.parse(store.settings.analyser)
    posts = store.posts(rows.posts)
    texts, times = posts.column("text").to_pylist(), posts.column("timestamp").to_pylist()
    told = []
    for place, query in enumerate(texts_of(store, rows)):
        words = query.split()
        told.append(
            CriticalQuery(
                query=query,
                rank=int(rows.ranks[place]),
                whole=bool(rows.whole[place]),
                certain=bool(rows.certain[place]),
                holders=int(rows.documents[place]),
                quotation=excerpt(str(texts[place]), analyser, words),
                when=_day(times[place]),
                reasons=reasons_in_words(ranked.reasons[place]),
                helps=_helps(helps[place], words, store.settings.k),
            )
        )
    return told


def reasons_in_words(found: Reasons) -> tuple[str, ...]:
    """Why a query stands there; what the words are about is told in one phrase."""
    topics = [reason.words.removeprefix(ABOUT) for reason in found.up if reason.words.startswith(ABOUT)]
    others = [reason.words for reason in found.up if not reason.words.startswith((ABOUT, WITHOUT))]
    return (*others, *([ABOUT + ", ".join(topics)] if topics else []))


def _helps(remedy: Remedy, words: Sequence[str], k: int) -> tuple[str, ...]:
    """What would lower the rank, the best first."""
    changed = zip(words, (remedy.without_first, remedy.without_second), strict=False)
    ordered = sorted(changed, key=lambda pair: -(pair[1] or k + 1))
    told = [
        f"Another word for {word} takes the post out of the first {k}."
        if rank is None
        else f"Another word for {word} moves the post to rank {rank}."
        for word, rank in ordered
        if rank != remedy.rank
    ]
    return (*told, "Deleting the post, or showing it to fewer people, ends it.")


def _post_remedies(store: ExposureStore, rows: Exposures, helps: Sequence[Remedy]) -> list[PostRemedy]:
    import numpy as np

    from aidos.report.values import fit
    from aidos.rooms.exposure.pages import PostRemedy
    from aidos.rooms.exposure.queries.remedies import rewordings

    found = sorted(rewordings(rows, helps), key=lambda each: (-each.rows, each.post))
    posts = store.posts(np.array([each.post for each in found], dtype=np.int64))
    texts, times = posts.column("text").to_pylist(), posts.column("timestamp").to_pylist()
    words = store.words(np.array([each.word for each in found], dtype=np.int64))
    return [
        PostRemedy(
            post=fit(str(text), BEGINNING),
            when=_day(time),
            listed=each.rows,
            word=word if each.removed else "",
            ended=each.removed,
        )
        for each, text, time, word in zip(found, texts, times, words, strict=True)
    ]


def texts_of(store: Community, rows: Exposures | TiedOut) -> list[str]:
    """The queries of rows as text."""
    import numpy as np

    from aidos.rooms.exposure.queries.records import NO_WORD

    numbers = np.unique(np.concatenate([rows.first, rows.second]))
    numbers = numbers[numbers != NO_WORD]
    spelled = {NO_WORD: "", **dict(zip(numbers.tolist(), store.words(numbers), strict=True))}
    pairs = zip(rows.first.tolist(), rows.second.tolist(), strict=True)
    return [f"{spelled[first]} {spelled[second]}".strip() for first, second in pairs]


def _day(time: object) -> str:
    return f"{time:%Y-%m-%d}" if isinstance(time, datetime) else ""
