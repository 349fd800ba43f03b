"""The chapters on the eavesdropper: what she makes of one query, and of a month of them."""

from __future__ import annotations

from collections.abc import Sequence

from aidos.report.charts import bar
from aidos.report.page import Block, Chapter, Figure, Prose
from aidos.studies.ups.eavesdropping import NO_PROFILE
from aidos.studies.ups.figures import Row, algorithm_lines, study_table

__all__ = ["months", "one_query"]

GUESSING = (
    "She is told the query, and maps it to topics as everybody can. Her ranking of the sensitive topics is measured by "
    "the chance that a topic that the searcher holds stands before one that she does not (one half: by luck). Without "
    "a profile she has the query alone; generalisation cannot take that from her."
)
MONTH = (
    "Each answer keeps the limit, but together they tell more than one does, and a topic that was hidden for one query "
    "may be shown for another. The session's memory keeps what was hidden hidden, and counts all that was shown "
    "towards the limit. Made-up people search for much that is sensitive; those of the sample world for little."
)


def one_query(rows: Sequence[Row]) -> Chapter:
    """The chapter on single queries, from `sum_up_guesses`."""
    blocks: list[Block] = [Prose(GUESSING)]
    for people in dict.fromkeys(row["people"] for row in rows):
        own = [row for row in rows if row["people"] == people]
        alone = next(row for row in own if row["algorithm"] == NO_PROFILE)
        sent = [row for row in own if row["algorithm"] != NO_PROFILE]
        most = max(sent, key=lambda row: (row["limit"], row["ranking"]))
        said = (
            f"{people.capitalize()}: from the query alone she puts a held topic first with a chance of "
            f"{alone['ranking']:.3f}, with the whole seed with {most['ranking']:.3f}; {most['shown']:.0%} of the held "
            "sensitive topics are plainly shown then."
        )
        columns = ("algorithm", "limit", "first", "right", "blind", "ranking", "precision", "queries")
        table = study_table(f"Guesses from one query ({people})", own, columns)
        seen = study_table(f"Shown with one query ({people})", sent, ("algorithm", "limit", "shown"))
        first = f"{people.capitalize()}: {_first_shown(sent)}"
        blocks += [
            algorithm_lines(f"Success by limit ({people})", sent, ("limit", "ranking"), table=table, caption=said),
            algorithm_lines(f"Sensitive topics shown ({people})", sent, ("limit", "shown"), table=seen, caption=first),
        ]
    return Chapter(title="The eavesdropper, one query", blocks=tuple(blocks))


def months(rows: Sequence[Row], limit: float) -> Chapter:
    """The chapter on many queries, from `sum_up_sessions`."""
    blocks: list[Block] = [Prose(MONTH)]
    for people in dict.fromkeys(row["people"] for row in rows):
        own = [row for row in rows if row["people"] == people and row["algorithm"] != NO_PROFILE]
        named = [{**row, "algorithm": f"{row['algorithm']}, {_memory(row)}"} for row in own]
        back = {memory: sum(row["reappeared"] for row in own if row["memory"] is memory) for memory in (False, True)}
        at = {row["algorithm"]: row for row in named if row["limit"] == limit}
        columns = ("algorithm", "limit", "together", "over_limit", "shown", "ranking", "power", "sent")
        alone = [{**row, "algorithm": NO_PROFILE} for row in rows if row not in own and row["people"] == people]
        table = study_table(f"All queries of a month ({people})", [*alone, *named], columns)
        risk = " and ".join(f"{row['together']:.3f} ({name})" for name, row in at.items() if name.startswith("ratio"))
        came = (
            f"{people.capitalize()}: {back[False]:,} topics came back after they were hidden without the memory, "
            f"{back[True]:,} with it (all limits and algorithms)."
        )
        bars = [(name, float(row["reappeared"])) for name, row in at.items()]
        blocks += [
            algorithm_lines(
                f"Risk of all that was shown together ({people})",
                named,
                ("limit", "together"),
                table=table,
                caption=f"{people.capitalize()}: at a limit of {limit:g} a month gives away {risk} on average.",
            ),
            Figure(
                chart=bar(f"Topics that came back at a limit of {limit:g} ({people})", bars, unit="topics"),
                caption=came,
                table=study_table(f"Topics that came back ({people})", named, ("algorithm", "limit", "reappeared")),
            ),
        ]
    return Chapter(title="The eavesdropper, a month", blocks=tuple(blocks))


def _memory(row: Row) -> str:
    return "with memory" if row["memory"] else "without"


def _first_shown(rows: Sequence[Row]) -> str:
    limits = [row["limit"] for row in rows if row["shown"] > 0]
    return f"the first sensitive topic is shown at a limit of {min(limits):g}." if limits else "none is ever shown."
