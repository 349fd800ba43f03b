"""The operator's page about R-susceptibility: how many people are exposed to which topic.

It is made of a `Release`: no person is in it, and every number is about many.
"""

from __future__ import annotations

from collections.abc import Sequence

from aidos.core.mechanism import Release
from aidos.report.charts import bar
from aidos.report.page import Block, Chapter, Code, DataTable, Facts, Figure, Page, Prose
from aidos.report.values import Value
from aidos.rooms.risk.overview import Overview

__all__ = ["SPREAD_COLUMNS", "risk_audit_page", "spread_rows"]

SPREAD_COLUMNS = ("topic", "measure", "risk above", "up to", "people")
HOW = (
    "Risk is how near what somebody wrote comes to a sensitive topic, as an adversary would measure it. Counted are "
    "people whose risk lies within fixed bounds, among those who come near to the topic at all; of the others there is "
    "no evidence, whatever their numbers. Numbers of different measures do not compare."
)
MOST_BARS = 30


def risk_audit_page(release: Release[Overview], command: str) -> Page:
    """One page for one audit."""
    overview = release.value
    few = f"Numbers of people are rounded down to multiples of {overview.least}; what concerns fewer is left out."
    return Page(
        title="Who is exposed to which sensitive topic",
        lead=f"At least {overview.people:,} people are ranked. Nobody is named here.",
        chapters=(
            Chapter(
                title="In numbers",
                blocks=(
                    Facts(
                        (
                            ("people, at least", overview.people),
                            ("topics", len({spread.topic for spread in overview.spreads})),
                            ("measures", len({spread.measure for spread in overview.spreads})),
                        )
                    ),
                    Prose(f"{HOW}\n\n{few}"),
                ),
            ),
            Chapter(title="By topic", blocks=_by_topic(overview)),
            *((Chapter(title="Again", blocks=(Code(text=command, language="command"),)),) if command else ()),
        ),
        source=release,
    )


def spread_rows(overview: Overview) -> list[tuple[Value, ...]]:
    """How many there is no evidence for, and bins with a number: for the page and the terminal."""
    rows: list[tuple[Value, ...]] = []
    for spread in overview.spreads:
        name = spread.measure.partition(":")[0]
        if spread.no_evidence is not None:
            rows.append((spread.topic, name, "no evidence", None, spread.no_evidence))
        rows += [
            (spread.topic, name, "none" if one.above is None else f"{one.above:g}", one.up_to, one.people)
            for one in spread.bins
            if one.people is not None
        ]
    return rows


def _by_topic(overview: Overview) -> tuple[Block, ...]:
    """Bars of the measure that tells of most people, over the numbers of all; the numbers alone where none tells."""
    table = DataTable(
        caption="People by topic, measure and risk",
        columns=SPREAD_COLUMNS,
        rows=tuple(spread_rows(overview)),
        numeric=SPREAD_COLUMNS[3:],
    )
    near: dict[str, list[tuple[str, float]]] = {}
    for spread in overview.spreads:
        people = float(sum(one.people or 0 for one in spread.bins))
        near.setdefault(spread.measure, []).append((spread.topic, people))
    measure = max(near, key=lambda each: sum(people for _, people in near[each]))
    told = sorted(((topic, people) for topic, people in near[measure] if people), key=lambda pair: (-pair[1], pair[0]))
    if not told:
        return (Prose("No topic has enough people near to it to be told of."), table)
    name = measure.partition(":")[0]
    figure = Figure(
        chart=bar(f"People who come near a topic ({name})", told[:MOST_BARS], unit="people, at least"),
        caption=f"Most people come near to {_first(told)}, by {name}.",
        table=table,
    )
    return (figure,)


def _first(told: Sequence[tuple[str, float]]) -> str:
    """Which topic has the most people, and how many; numbers are round, so that several may share the place."""
    most = told[0][1]
    equal = sum(people == most for _, people in told)
    named = told[0][0] if equal == 1 else f"each of {equal} topics"
    return f"{named}: {most:,.0f} or more"
