"""A member's own page: by which queries her posts are found, the most critical first, and what would change that.

It is for the member and for nobody else: a finding, whatever her posts say.
"""

from __future__ import annotations

from dataclasses import dataclass

from aidos.core.mechanism import Finding
from aidos.report.charts import bar
from aidos.report.page import Block, Callout, Card, Chapter, Code, DataTable, Facts, Figure, Page, Prose

__all__ = ["CriticalQuery", "MemberStory", "PostRemedy", "member_page", "query_card"]

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
    "What is critical is estimated from features by a model; you know better. The ranks are those of a model of the "
    "community's search: the real one may rank differently, and queries of three words and more are not in it."
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
    model: str
    """What the ranking was learnt from."""
    command: str


def member_page(story: MemberStory) -> Page:
    """One page for one member."""
    return Page(
        title="By which queries your posts are found",
        lead=f"For member {story.member}. {story.queries:,} queries return one of {story.posts:,} posts among the "
        f"first {story.k}.",
        chapters=(_critical(story), _helps(story), _all(story), _limits(story)),
        source=Finding(value=story, about="one member"),
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
    blocks: list[Block] = [
        Facts(
            (
                ("exposing queries", story.queries),
                ("posts returned", story.posts),
                ("pairs of query and post", story.exposures),
                ("sure however ties fall", story.sure),
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
    return Chapter(title="All of it", blocks=tuple(blocks))


def _limits(story: MemberStory) -> Chapter:
    return Chapter(
        title="How far to trust this",
        blocks=(
            Callout("caution", LIMITS),
            Prose(f"The order is by a model {story.model}."),
            Code(text=story.command, language="command"),
        ),
    )
