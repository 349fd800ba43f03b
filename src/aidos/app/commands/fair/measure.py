"""`aidos fair measure`: rankings as they were served."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.fair.telling import show_table, tell_left_out, words_of, write_page
from aidos.app.console import Common, show_json
from aidos.app.fairterms import Attending, HowToReadRankings
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.errors import Problem

__all__ = ["measure"]


def measure(
    runs: Sequence[str],
    /,
    *,
    judgements: str = "",
    measures: str = "nDCG@10,P@10,AP",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    attending: Attending | None = None,
    how: HowToReadRankings | None = None,
    common: Common | None = None,
) -> int:
    """Measure rankings as they were served, whoever chose their order.

    Every file is one run, in the order in which its rankings were served. Tells
    unfairness, quality against the order by relevance, Kendall's tau and
    AP-quality; with judgements also standard measures of retrieval.

    For example:
        aidos fair measure served.jsonl
        aidos fair measure before.run after.run --judgements qrels.txt
        aidos fair measure served.parquet -o page.html

    Parameters
    ----------
    runs
        Files of served rankings: position is where a subject stood, score its relevance.
    judgements
        A file of relevance judgements (TREC qrels).
    measures
        Standard measures for them, with commas between.
    output
        A page about the last run (a finding: it names subjects).
    """
    from aidos.app.fairmeasure import measure_run, read_judgements

    common = common or Common()
    equity = (attending or Attending()).equity()
    judged = read_judgements(judgements, common) if judgements else ()
    how, found = how or HowToReadRankings(), []
    for run in runs:
        problems: list[Problem] = []
        found.append(measure_run(run, how.read([run], problems), equity, judged, words_of(measures)))
        tell_left_out(problems, common)
    if not found:
        raise ParameterError("no run was named", hint="see: aidos fair measure --help")
    if output is not None:
        write_page(output, found[-1].story([each.course for each in found], equity.attention, runs))
    rows = [each.row() for each in found]
    if common.json:
        show_json({"attention": equity.attention, "runs": rows})
    else:
        # A column for each run: there are more measures than fit side by side.
        lines = [(name.replace("_", " "), *(row[name] for row in rows)) for name in rows[0]]
        show_table([str(each) for each in lines[0]], lines[1:], f"served rankings, attention {equity.attention}")
    return 0
