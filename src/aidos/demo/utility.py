"""The demo's chapter on utility: what the release of the chapter before is used for, and what each mechanism keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aidos.demo.chapter import Outcome, Workplace
from aidos.errors import InputError
from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Figure, Prose

if TYPE_CHECKING:
    from aidos.studies.utility.outcome import UtilityOutcome as Found

__all__ = ["utility_chapter"]

EPSILON, ITEMS = 4.0, 20
"""As in the chapter on publishing."""
SHOWN = 5


def utility_chapter(place: Workplace) -> Outcome:
    """Rank results by the release, then compare all mechanisms at its strength."""
    query, ranked = _ranked(place)
    found = _compared(place)
    figure = _figure(found)
    most = int(max(value for _, value in _published(figure)))
    chapter = Chapter(
        title="What a release is still good for",
        blocks=(
            Prose(
                "A release serves search without the log behind it. Whoever has it can rank results by its clicks, "
                "suggest other ways to ask, or decide what to keep in memory, at no further cost in privacy."
            ),
            ranked,
            Prose(
                "What a release would keep can be found out before anything is published. Here every mechanism "
                f"releases the sample log's queries at the same epsilon, {EPSILON:g}, and the same delta."
            ),
            figure,
            Callout(
                "finding",
                "Such comparisons look at the true log: about people they are findings, for its owner alone.",
            ),
            Code(
                text=f'aidos rank release "{query}"\naidos evaluate utility log.parquet -o results', language="command"
            ),
        ),
    )
    return Outcome(chapter, "utility", f"up to {most:,} queries released, by mechanism")


def _ranked(place: Workplace) -> tuple[str, Block]:
    """A query, and what comes first for it and others; in a tiny world nothing may have come through."""
    from aidos.model.clickgraph import ClickGraph
    from aidos.rooms.publish.released import open_released

    try:
        released = open_released(place.directory / "release")
        clicks = released.require("clicks")
    except InputError as error:
        return "query", Callout("caution", f"{error.message[0].upper()}{error.message[1:]}.")
    queries = [str(query) for query in clicks.column("user_query").unique().to_pylist()[:SHOWN]]
    graph = ClickGraph.of(clicks, released.pairs)
    firsts = [graph.rank(query, most=1)[0] for query in queries]
    return queries[0], DataTable(
        caption="What the release ranks first",
        columns=("query", "result", "probability that a walk ends there"),
        rows=tuple((query, first.address, round(first.score, 3)) for query, first in zip(queries, firsts, strict=True)),
    )


def _compared(place: Workplace) -> Found:
    from aidos.studies.utility.experiment import Source, run_experiment
    from aidos.studies.utility.plan import UtilityPlan

    plan = UtilityPlan(kinds=("queries",), equal_epsilons=(EPSILON,), equal_items_per_person=ITEMS)
    log = place.engine.parquet(place.directory / "log.parquet")
    source = Source(log=log, about="The sample world", fingerprint="demo")
    return run_experiment("mechanisms", source, plan, progress=place.progress)


def _figure(found: Found) -> Figure:
    """The experiment's own chart for one person added or removed, which is the first."""
    from aidos.studies.utility.statisticspage import mechanism_chapters

    return next(block for chapter in mechanism_chapters(found) for block in chapter.blocks if isinstance(block, Figure))


def _published(figure: Figure) -> list[tuple[str, float]]:
    return [(str(row[0]), float(str(row[1]))) for row in figure.table.rows if row[0] != "original"]
