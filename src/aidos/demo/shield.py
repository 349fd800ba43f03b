"""The demo's chapter on generalised profiles: one searcher, one ambiguous query, and what would leave her machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aidos.demo.chapter import Outcome, Workplace
from aidos.report.page import Callout, Chapter, Code, DataTable, Facts, Prose

if TYPE_CHECKING:
    from aidos.demo.searcher import Told

__all__ = ["shield_chapter"]


def shield_chapter(place: Workplace) -> Outcome:
    """Build a searcher's profile from what she searched for, and decide about one of her queries."""
    from aidos.demo.searcher import find_searcher
    from aidos.report.values import counted

    told = find_searcher(place)
    shown, topics = len(told.story.decision.shown[1:]), len(told.story.decision.topics[1:])
    return Outcome(
        _chapter(told), "generalised profiles", f"{counted(shown, 'topic', 'topics')} sent, {topics - shown} kept back"
    )


def _chapter(told: Told) -> Chapter:
    from aidos.rooms.shield.profile.generalisation import THREAT_MODEL
    from aidos.rooms.shield.profile.page import STANDING_COLUMNS, standing_rows, tree_block

    story, built, outcomes = told.story, told.built, told.outcomes
    words = THREAT_MODEL
    return Chapter(
        title="A profile that stays at home",
        blocks=(
            Prose(
                "A search service need not keep a profile: it can stay on the searcher's machine, as topics with "
                "counts, and for each query a generalised part of it goes along, or none. Here is the made-up searcher "
                f"{told.person}, her profile built from {built.documents:,} of her searches, and what would leave her "
                f"machine with the ambiguous query \u201c{story.query}\u201d."
            ),
            Facts(
                (
                    ("topics in her profile", len(built.profile.supports)),
                    ("queries sent with some of it", outcomes.get("sent", 0)),
                    ("clear without it", outcomes.get("distinct", 0)),
                    ("nothing in common", outcomes.get("nothing-in-common", 0)),
                )
            ),
            tree_block(story),
            DataTable(
                caption="Before and after: her topics on the query, and what is sent of them",
                columns=STANDING_COLUMNS,
                rows=tuple(standing_rows(story)),
                numeric=STANDING_COLUMNS[1:],
            ),
            Callout("caution", f"{words[:1].upper()}{words[1:]}."),
            Code(
                text=f"aidos shield profile build log.parquet --person {told.person} -o profile.json\n{story.asked}",
                language="command",
            ),
        ),
    )
