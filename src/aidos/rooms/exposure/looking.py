"""The jobs that look a query up, and a draft before it is posted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated

from aidos.errors import ParameterError
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Private
from aidos.rooms.exposure.computing import InExposure
from aidos.rooms.exposure.member import RankingQueries, in_words, reasons_in_words, texts_of

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, Page
    from aidos.report.values import Value
    from aidos.rooms.exposure.queries.answers import Answer
    from aidos.rooms.exposure.queries.store import ExposureStore

__all__ = ["AskQuery", "DraftExposure", "QueryResults", "TryDraft"]

QUERY_COLUMNS = ("rank", "post", "member", "match", "ties")
DRAFT_COLUMNS = ("query", "rank", "match", "ties", "why")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class QueryResults(Finding):
    """The posts and members that a query returns."""

    about: str = "the members of a community"
    documents: int
    """Posts that hold the whole query."""
    unknown_words: int
    """Words of the query that no post ever held."""
    tied_out: int
    """Posts that are not shown, and would be if ties fell otherwise: they have the score of the last one."""
    rows: tuple[tuple[Value, ...], ...]
    """The results, under QUERY_COLUMNS."""

    def facts(self) -> Mapping[str, object]:
        """How many posts hold the query, and its results."""
        counts = {"documents": self.documents, "unknown_words": self.unknown_words, "tied_out": self.tied_out}
        return {**counts, "results": _named(QUERY_COLUMNS, self.rows)}

    def table(self) -> pa.Table:
        """A row for each result."""
        import pyarrow as pa

        return pa.Table.from_pylist(_named(QUERY_COLUMNS, self.rows))

    def blocks(self) -> Sequence[Block]:
        """The results."""
        from aidos.report.page import DataTable

        hold = "1 post holds" if self.documents == 1 else f"{self.documents:,} posts hold"
        more = f"; exposed if ties fall otherwise: {self.tied_out:,} more with the score of the last one"
        tied = more if self.tied_out else ""
        return (DataTable(caption=f"{hold} the whole query{tied}", columns=QUERY_COLUMNS, rows=self.rows),)

    def remarks(self) -> Sequence[str]:
        """Whether words of the query are unknown."""
        return (f"no post has ever held {self.unknown_words} of the words",) if self.unknown_words else ()


@dataclass(frozen=True, slots=True)
class AskQuery(InExposure):
    """Show which posts and members a query returns.

    A query has one word or two. Posts that hold only one of two words are
    partial matches.

    For example:
        aidos expose query - --in exposure
        aidos expose query "debt lawyer" --in exposure --json
    """

    text: Annotated[str, Private("text")]
    """The query, or - for the standard input."""
    _: KW_ONLY

    def run(self, desk: Desk) -> QueryResults:
        """Look it up."""
        store = self.store(desk)
        answer = store.answer(self.text)
        rows = tuple(_results(store, answer))
        return QueryResults(
            documents=answer.documents, unknown_words=len(answer.unknown), tied_out=answer.tied_out, rows=rows
        )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DraftExposure(Finding):
    """What a draft would be found by, for whoever wrote it."""

    about: str = "whoever wrote the draft"
    queries: int
    whole: int
    """Queries whose words all stand in it."""
    certain: int
    """Queries that return it however ties fall."""
    rows: tuple[tuple[Value, ...], ...]
    """The most critical, under DRAFT_COLUMNS."""
    order: str = ""
    """What the queries were ranked by, where it was not one's own model."""
    asked: str = ""

    def facts(self) -> Mapping[str, object]:
        """How many queries, and the most critical."""
        told = _named(DRAFT_COLUMNS, self.rows)
        return {"queries": self.queries, "whole": self.whole, "certain": self.certain, "most_critical": told}

    def table(self) -> pa.Table:
        """A row for each of the most critical queries."""
        import pyarrow as pa

        return pa.Table.from_pylist(_named(DRAFT_COLUMNS, self.rows))

    def blocks(self) -> Sequence[Block]:
        """The most critical queries."""
        from aidos.report.page import DataTable

        title = f"{self.queries:,} queries would return it, {self.whole:,} of them with all their words in it"
        return (DataTable(caption=title, columns=DRAFT_COLUMNS, rows=self.rows),)

    def remarks(self) -> Sequence[str]:
        """By what they were ranked, unless it was one's own model."""
        return (self.order,) if self.order else ()

    def page(self) -> Page:
        """A page for whoever wrote it."""
        from aidos.rooms.exposure.pages import draft_page

        return draft_page(self, self.blocks(), self.asked)


@dataclass(frozen=True, slots=True)
class TryDraft(RankingQueries):
    """Tell which queries would return a draft, before it is posted.

    Nothing is stored. Give - to read the draft from the standard input, so
    that it is not seen among processes and in the history of the shell.

    For example:
        aidos expose draft - --in exposure < draft.txt
        aidos expose draft - --as ID --in exposure
    """

    text: Annotated[str, Private("text", "the draft")]
    """The draft, or - for the standard input."""
    _: KW_ONLY
    author: Annotated[str | None, Named("--as"), Private("name")] = None
    """The member who would post it, or - for a line of standard input, before the draft; somebody new if unset."""

    def run(self, desk: Desk) -> DraftExposure:
        """Look it up as if it were posted now, read as posts are; partial matches come behind, since they say less."""
        from datetime import UTC, datetime

        from aidos.ingest.formats.markup import without_markup
        from aidos.rooms.exposure.critical.community import Drafted
        from aidos.rooms.exposure.critical.rank import rank_member

        text = without_markup(self.text)
        if not text.strip():
            raise ParameterError("the draft is blank", hint="write what would be posted")
        model, store = self.ranker(), self.store(desk)
        view = Drafted(store, text)
        member = None if self.author is None else store.member_number(self.author)
        found = store.draft(text, member=member, when=datetime.now(UTC))
        ranked = rank_member(view, found, model, top=self.top, rows_per_post=None)
        if not len(ranked) and len(found):
            ranked = rank_member(view, found, model, top=self.top, rows_per_post=None, clean=False, partial=True)
        rows = zip(
            texts_of(view, ranked.rows),
            ranked.rows.ranks.tolist(),
            map(_in_words, ranked.rows.whole.tolist(), ranked.rows.certain.tolist()),
            ranked.reasons,
            strict=True,
        )
        return DraftExposure(
            queries=len(found),
            whole=int(found.whole.sum()),
            certain=int(found.certain.sum()),
            rows=tuple((query, rank, *words, "; ".join(reasons_in_words(why))) for query, rank, words, why in rows),
            order=self.order(),
            asked=desk.asked,
        )


def _results(store: ExposureStore, answer: Answer) -> list[tuple[Value, ...]]:
    """The results of a query under QUERY_COLUMNS."""
    from aidos.rooms.exposure.queries.layout import numbers_in

    posts = store.posts(answer.posts)
    ids: list[str] = posts.column("post_id").to_pylist()  # type: ignore[assignment]
    authors = store.author(numbers_in(posts.column("member")))
    marks = map(_in_words, answer.whole.tolist(), answer.certain.tolist())
    found = zip(answer.ranks.tolist(), ids, authors, marks, strict=True)
    return [(rank, post, author, *words) for rank, post, author, words in found]


def _in_words(whole: bool, certain: bool) -> tuple[str, str]:  # noqa: FBT001 (for map)
    return in_words(whole=whole, certain=certain)


def _named(columns: Sequence[str], rows: Sequence[tuple[Value, ...]]) -> list[dict[str, Value]]:
    return [dict(zip(columns, row, strict=True)) for row in rows]
