"""The operator's page about search exposure: which kinds of query expose most members, and most sensitively.

It is made of a `Release`: no member, query or post is in it, and every number is about many members.
"""

from __future__ import annotations

from collections.abc import Iterable

from aidos.core.mechanism import Release
from aidos.report.charts import bar
from aidos.report.page import Chapter, Code, DataTable, Facts, Figure, Page, Prose
from aidos.rooms.exposure.queries.audit import ORDINARY, Audit, Kind

__all__ = ["KIND_COLUMNS", "audit_page", "kind_rows"]

KIND_COLUMNS = ("kind of query", "members", "queries", "exposures", "sensitivity")
HOW = (
    "A query exposes a post when the post is among the first results, and a member when one of her posts is. Counted "
    "are queries of one word, and of two words that some post holds together. Sensitivity is how much the words of the "
    "query belong to sensitive topics, from 0 to 1, on average over exposures. A query counts where its "
    "first result does."
)
WHAT_TO_DO = (
    "Rare queries expose single members, and most of them are noise; common words of sensitive topics expose many. A "
    "search that asks for all words of a query, that leaves old posts out, or that lets authors take single posts out "
    "of the results lowers both."
)


def audit_page(release: Release[Audit], command: str) -> Page:
    """One page for one audit."""
    audit = release.value
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
            Chapter(title="Again", blocks=(Code(text=command, language="command"),)),
        ),
        source=release,
    )


def kind_rows(kinds: Iterable[Kind]) -> list[tuple[str | int | float | None, ...]]:
    """Rows of kinds, for the page and the terminal."""
    return [(kind.name, kind.members, kind.queries, kind.exposures, kind.sensitivity) for kind in kinds]


def _table(audit: Audit, group: str, caption: str) -> DataTable:
    rows = kind_rows(kind for kind in audit.kinds if kind.group == group)
    return DataTable(caption=caption, columns=KIND_COLUMNS, rows=tuple(rows), numeric=KIND_COLUMNS[1:])


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
            columns=("word", "topic", "members"),
            rows=audit.words,
        ),
    )
