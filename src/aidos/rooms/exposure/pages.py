"""Pages about search exposure: a member's own, that of a draft, and the operator's. All of them are findings.

A member's page tells by which queries her posts are found, the most critical first, and what would change that. It is
for the member and for nobody else, whatever her posts say. The operator's tells which kinds of query expose most
members, and most sensitively: no member, query or post is in it, and every number is about many members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aidos.core.mechanism import Finding
from aidos.report.charts import bar
from aidos.report.page import Block, Callout, Card, Chapter, Code, DataTable, Facts, Figure, Page, Prose
from aidos.rooms.exposure.queries.audit import ORDINARY, Audit, Kind

__all__ = [
    "KIND_COLUMNS",
    "WORD_COLUMNS",
    "CriticalQuery",
    "MemberStory",
    "PostRemedy",
    "TiedOutQueries",
    "audit_page",
    "draft_page",
    "kind_rows",
    "member_page",
    "query_card",
]

KIND_COLUMNS = ("kind of query", "members", "share", "95 % interval", "queries", "exposures", "sensitivity")
WORD_COLUMNS = ("word", "topic", "members")

ABOUT_RANKS = (
    "A query exposes a post when the post is among the first {k} results. Considered are queries of one word, and of "
    "two words that some post holds together. Where posts have the same score, the order of ties decides: such a rank "
    "is marked as depending on it."
)
ABOUT_HELP = (
    "Each of these was computed by ranking the changed post again, with everything else as it is. Deleting a post, or "
    "restricting who may see it, ends all of its exposure. Copies elsewhere are not touched by either."
)
LIMITS = (
    "What is critical is estimated from words and topics; you know better. The ranks are those of a model of the "
    "community's search: the real one may rank differently, and queries of three words and more are not in it."
)
HOW = (
    "A query exposes a post when the post is among the first results, and a member when one of her posts is. Counted "
    "are queries of one word, and of two words that some post holds together. A query counts under a topic where one "
    "of its words is about the topic and so is the rest of the post: a word of the topic in a post about other things "
    "does not. Sensitivity is how much the words give away there, from 0 to 1, on average over exposures. A query is "
    "counted where its first result is. The share is of the members exposed; its interval (95 %) says how far it would "
    "vary if other members like these had been there."
)
WHAT_TO_DO = (
    "Rare queries expose single members, and most of them are noise; common words of sensitive topics expose many. A "
    "search that asks for all words of a query, that leaves old posts out, or that lets authors take single posts out "
    "of the results lowers both."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalQuery:
    """A query, the post it returns and what is known about that."""

    query: str
    rank: int
    whole: bool
    """Whether the post holds all words of the query."""
    certain: bool
    """Whether it is there however ties fall."""
    holders: int
    """Posts of the community that hold all words of the query."""
    quotation: tuple[tuple[str, bool], ...]
    """The post in pieces, each with whether it is a word of the query."""
    when: str
    reasons: tuple[str, ...]
    helps: tuple[str, ...]
    """What would lower the rank, each a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRemedy:
    """The single change to a post that ends most of the listed exposure."""

    post: str
    """Its beginning."""
    when: str
    listed: int
    """How many of the listed queries return it."""
    word: str
    """The word to change; empty when no single word helps."""
    ended: int
    """How many of them end with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TiedOutQueries:
    """Queries that do not return a member's posts, and would if ties fell otherwise."""

    queries: int = 0
    posts: int = 0
    examples: tuple[str, ...] = ()
    """Some of these queries, those that fewest posts hold."""
    posts_looked_at: int = 0
    """The newest; of most members all."""
    left_out: int = 0
    """Pairs of these posts and a query that were not looked at, since very many posts hold its words."""

    @property
    def sentence(self) -> str:
        """What it means; empty where there is none."""
        if not self.queries:
            return ""
        asked = "1 query" if self.queries == 1 else f"{self.queries:,} queries"
        found = "1 post" if self.posts == 1 else f"{self.posts:,} posts"
        return f"{asked} more would return {found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStory:
    """What the page is about."""

    member: str
    k: int
    exposures: int
    queries: int
    posts: int
    """Posts that some query returns."""
    sure: int
    """Exposures that no order of ties would undo."""
    ranked: int
    """Queries left to rank after cleaning."""
    dropped: tuple[tuple[str, int], ...]
    """Why exposures were left out of the ranking, and how many."""
    critical: tuple[CriticalQuery, ...]
    remedies: tuple[PostRemedy, ...]
    order: str
    """What they are ranked by."""
    command: str
    looked_at: int | None = None
    """Exposures that were looked at, where these are not all: queries, posts and what is sure are at least so many."""
    tied_out: TiedOutQueries = TiedOutQueries()
    """What misses her posts by a tie."""

    @property
    def is_partial(self) -> bool:
        """Whether not every exposure was looked at."""
        return self.looked_at is not None and self.looked_at < self.exposures

    @property
    def sentence(self) -> str:
        """How many queries return how many posts."""
        if not self.is_partial:
            return f"{self.queries:,} queries return {self.posts:,} posts"
        return (
            f"at least {self.queries:,} queries return at least {self.posts:,} posts "
            f"({self.looked_at:,} of {self.exposures:,} pairs of query and post were looked at)"
        )


def member_page(found: Finding[MemberStory]) -> Page:
    """One page for one member."""
    story = found.value
    return Page(
        title="By which queries your posts are found",
        lead=f"For member {story.member}. {story.sentence[0].upper()}{story.sentence[1:]} among the first {story.k}.",
        chapters=(_critical(story), _helps(story), _all(story), _limits(story)),
        source=found,
    )


def _critical(story: MemberStory) -> Chapter:
    if not story.critical:
        return Chapter(title="The most critical queries", blocks=(Prose("No query is left to rank."),))
    cards = tuple(query_card(each, story.k) for each in story.critical)
    return Chapter(title="The most critical queries", blocks=(Prose(ABOUT_RANKS.format(k=story.k)), *cards))


def query_card(found: CriticalQuery, k: int) -> Card:
    """One query with the post it returns among the first ``k``."""
    holders = "no other post holds it" if found.holders <= 1 else f"{found.holders:,} posts hold it"
    marks = (
        f"rank {found.rank} of {k}",
        "the whole query" if found.whole else "one of its words",
        "however ties fall" if found.certain else "depends on ties",
        holders,
    )
    notes = [("Why here", found.reasons)] if found.reasons else []
    if found.helps:
        notes.append(("To lower it", found.helps))
    return Card(
        title=found.query,
        marks=marks,
        quotation=found.quotation,
        source=f"Posted {found.when}",
        notes=tuple(notes),
    )


def _helps(story: MemberStory) -> Chapter:
    columns = ("post", "posted", "listed queries", "change this word", "queries that end")
    rows = tuple((each.post, each.when, each.listed, each.word or None, each.ended) for each in story.remedies)
    return Chapter(
        title="What would lower it",
        blocks=(
            Prose(ABOUT_HELP),
            DataTable(
                caption="For each post, the one word whose change ends most",
                columns=columns,
                rows=rows,
                numeric=(columns[1], columns[2], columns[4]),
            ),
        ),
    )


def _all(story: MemberStory) -> Chapter:
    least = ", at least" if story.is_partial else ""
    blocks: list[Block] = [
        Facts(
            (
                (f"exposing queries{least}", story.queries),
                (f"posts returned{least}", story.posts),
                ("pairs of query and post", story.exposures),
                (f"sure however ties fall{least}", story.sure),
            )
        )
    ]
    if story.dropped:
        named = tuple(story.dropped)
        blocks.append(
            Figure(
                chart=bar("Left out of the ranking", named, unit="pairs of query and post"),
                caption=f"{story.ranked:,} queries were ranked; the rest was left out, mostly as noise.",
                table=DataTable(caption="Left out of the ranking", columns=("why", "pairs"), rows=named),
            )
        )
        blocks.append(
            Prose("For some people exactly these matter, a number or a name: `--raw` lists all that there is.")
        )
    blocks += _tied_out(story.tied_out)
    return Chapter(title="All of it", blocks=tuple(blocks))


def _tied_out(found: TiedOutQueries) -> list[Block]:
    """What misses her by a tie, in words."""
    if not found.queries:
        return []
    named = ", ".join(f"*{query}*" for query in found.examples)
    least = f" Of the newest {found.posts_looked_at:,} posts, and at least: not every query was looked at."
    return [
        Prose(
            f"**Exposed if ties fall otherwise:** {found.sentence}. There your posts have the very score of the last "
            f"one shown, and another search, or this one tomorrow, may show them instead. Among these queries: {named}."
            f"{least if found.left_out else ''}"
        )
    ]


def _limits(story: MemberStory) -> Chapter:
    return Chapter(
        title="How far to trust this",
        blocks=(
            Callout("caution", LIMITS),
            Prose(f"{story.order[0].upper()}{story.order[1:]}."),
            *_again(story.command),
        ),
    )


def draft_page(found: Finding[Any], blocks: Sequence[Block], asked: str) -> Page:
    """A page for whoever wrote a draft."""
    return Page(
        title="By which queries a draft would be found",
        lead="Nothing of it was stored.",
        chapters=(
            Chapter(title="The most critical queries", blocks=tuple(blocks)),
            Chapter(title="How far to trust this", blocks=(Callout("caution", LIMITS), *_again(asked))),
        ),
        source=found,
    )


def audit_page(found: Finding[Audit], *, promised: str, asked: str) -> Page:
    """One page for one audit."""
    audit = found.value
    few = f"Numbers of members are rounded down to multiples of {audit.least}; a dash stands for fewer than that."
    return Page(
        title="Which queries expose members",
        lead=f"{audit.queries:,} queries expose at least {audit.members:,} members. Nobody is named here.",
        chapters=(
            Chapter(
                title="In numbers",
                blocks=(
                    Facts(
                        (
                            ("members exposed, at least", audit.members),
                            ("queries, about", audit.queries),
                            ("pairs of query and post, about", audit.exposures),
                        )
                    ),
                    Prose(f"{HOW}\n\n{few}"),
                    Callout("caution", promised),
                ),
            ),
            Chapter(title="By topic", blocks=(_topics(audit), *_words(audit))),
            Chapter(
                title="By form",
                blocks=(
                    _table(audit, "match", "How much of the query the post holds"),
                    _table(audit, "held by", "How many posts hold the whole query"),
                    Prose(WHAT_TO_DO),
                ),
            ),
            *([Chapter(title="Again", blocks=_again(asked))] if asked else []),
        ),
        source=found,
    )


def kind_rows(audit: Audit, group: str) -> tuple[tuple[str | int | float | None, ...], ...]:
    """The kinds of one group, for the page and the terminal."""
    return tuple(
        (kind.name, kind.members, kind.share, _interval(kind), kind.queries, kind.exposures, kind.sensitivity)
        for kind in audit.kinds
        if kind.group == group
    )


def _interval(kind: Kind) -> str | None:
    return None if kind.low is None or kind.high is None else f"{kind.low:.3f} to {kind.high:.3f}"


def _table(audit: Audit, group: str, caption: str) -> DataTable:
    rows = kind_rows(audit, group)
    return DataTable(caption=caption, columns=KIND_COLUMNS, rows=rows, numeric=KIND_COLUMNS[1:])


def _topics(audit: Audit) -> Figure:
    told = [kind for kind in audit.kinds if kind.group == "topic" and kind.members is not None]
    told.sort(key=lambda kind: -(kind.members or 0))
    bars = [(kind.name, float(kind.members or 0)) for kind in told if kind.name != ORDINARY]
    sensitive = [kind for kind in told if kind.name != ORDINARY]
    caption = (
        f"Among sensitive topics, {sensitive[0].name} exposes most members: {sensitive[0].members:,} or more."
        if sensitive
        else "No sensitive topic exposes enough members to be told."
    )
    return Figure(
        chart=bar("Members exposed by topic of the query", bars, unit="members"),
        caption=caption,
        table=_table(audit, "topic", "Topics of queries"),
    )


def _words(audit: Audit) -> tuple[DataTable, ...]:
    if not audit.words:
        return ()
    return (
        DataTable(
            caption="Words of sensitive topics that expose most members, alone or with another word",
            columns=WORD_COLUMNS,
            rows=audit.words,
        ),
    )


def _again(asked: str) -> tuple[Code, ...]:
    """How to ask it again, where that is known: the command, or the call."""
    return (Code(text=asked, language="command" if asked.startswith("aidos ") else "python"),) if asked else ()
