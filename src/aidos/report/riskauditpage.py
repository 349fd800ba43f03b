"""The operator's page about R-susceptibility: how many people are exposed to which topic.

It is made of a `Release`: no person is in it, and every number is about many.
"""

from __future__ import annotations

from aidos.core.mechanism import Release
from aidos.exposure.risk.overview import Bin, Overview
from aidos.report.charts import bar
from aidos.report.page import Chapter, Code, DataTable, Facts, Figure, Page, Prose
from aidos.report.values import Value

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
    few = f"Numbers of people are rounded down to multiples of {overview.least}; a dash stands for fewer than that."
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
            Chapter(title="By topic", blocks=(_figure(overview),)),
            Chapter(title="Again", blocks=(Code(text=command, language="command"),)),
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


def _figure(overview: Overview) -> Figure:
    first = overview.spreads[0].measure
    high = {
        spread.topic: sum(one.people or 0 for one in spread.bins if _is_high(one))
        for spread in overview.spreads
        if spread.measure == first
    }
    told = sorted(((topic, float(people)) for topic, people in high.items() if people), key=lambda pair: -pair[1])
    caption = (
        f"Most people come near to {told[0][0]}: {told[0][1]:,.0f} or more, by {first.partition(':')[0]}."
        if told
        else "No topic has enough people of high risk to be told of."
    )
    return Figure(
        chart=bar("People with a risk above one half", told[:MOST_BARS], unit="people, at least"),
        caption=caption,
        table=DataTable(
            caption="People by topic, measure and risk",
            columns=SPREAD_COLUMNS,
            rows=tuple(spread_rows(overview)),
            numeric=SPREAD_COLUMNS[3:],
        ),
    )


def _is_high(one: Bin) -> bool:
    return one.above is not None and one.above >= 0.5
