"""The demo's chapter on search exposure: the queries that expose one member, and the operator's audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aidos.demo.chapter import Outcome, Workplace
from aidos.report.page import Callout, Card, Chapter, Code, DataTable, Prose
from aidos.report.page import Facts as Tiles

if TYPE_CHECKING:
    from aidos.engine.embedded import EmbeddedTable
    from aidos.rooms.exposure.pages import MemberStory
    from aidos.rooms.exposure.queries.audit import Audit
    from aidos.rooms.exposure.queries.manifest import Facts

__all__ = ["exposure_chapter"]

SHOWN = 4
OPEN = "select * from {table} where community = 'open'"
MOST_TROUBLED = """
    select author_id from {table} where deleted_later
    group by author_id order by count(*) desc, author_id limit 1
"""
"""The member who will delete most of her posts: somebody with something to hide."""


def exposure_chapter(place: Workplace) -> Outcome:
    """Compute the exposure of the open community, look one member up, and audit the whole."""
    from aidos.jobs.desk import Desk
    from aidos.rooms.exposure.auditing import AuditCommunity
    from aidos.rooms.exposure.member import ShowMember
    from aidos.rooms.exposure.queries.compute import compute
    from aidos.rooms.exposure.queries.settings import SearchExposure

    posts: EmbeddedTable = place.engine.parquet(place.directory / "posts.parquet").select(OPEN)
    directory = place.engine.scratch / "exposure"
    facts = compute(posts, SearchExposure(), directory, progress=place.progress)
    member, desk = str(posts.rows(MOST_TROUBLED)[0][0]), Desk(progress=place.progress)
    story = ShowMember(author_id=member, directory=directory, top=SHOWN).run(desk).value
    audit = AuditCommunity(directory=directory, words=10).run(desk).value
    chapter = _chapter(facts, story, audit)
    return Outcome(chapter, "search exposure", f"{facts.queries:,} queries, {facts.exposures:,} exposures")


def _chapter(facts: Facts, story: MemberStory, audit: Audit) -> Chapter:
    from aidos.rooms.exposure.pages import query_card

    cards: tuple[Card, ...] = tuple(query_card(each, story.k) for each in story.critical)
    return Chapter(
        title="Which queries expose a member",
        blocks=(
            Prose(
                "A community's search returns posts with their authors. aidos turns it round: for every member, all "
                "queries of one or two words that return a post of theirs among the first ten, and which of them hurt. "
                f"Here is the made-up member {story.member}, who will delete more posts than anybody: the {SHOWN} most "
                f"critical of {story.queries:,} queries."
            ),
            Tiles((("posts", facts.posts), ("queries", facts.queries), ("exposures", facts.exposures))),
            *cards,
            _table(audit),
            Callout(
                "caution",
                "The order is by what words mean in the post, from a lexicon of topics that the posts of the sample "
                "world are drawn from as well: it shows how it works, not what real people mind.",
            ),
            Code(
                text="aidos expose compute posts.parquet -o exposure\n"
                f"aidos expose member {story.member} --in exposure -o page.html\n"
                "aidos expose audit --in exposure -o audit.html",
                language="command",
            ),
        ),
    )


def _table(audit: Audit) -> DataTable:
    from aidos.rooms.exposure.pages import KIND_COLUMNS, kind_rows

    return DataTable(
        caption=f"The operator's view: topics of queries, members in multiples of {audit.least}",
        columns=KIND_COLUMNS,
        rows=kind_rows(audit, "topic"),
        numeric=KIND_COLUMNS[1:],
    )
