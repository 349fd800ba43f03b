"""`aidos risk rank` and `add`: the ranks of a community, and new posts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.risk.telling import Knowing, Where
from aidos.app.console import Common, TerminalProgress, open_engine, remark_if_slow, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.app.risk.ranking import Placed, Ranked

__all__ = ["add", "rank"]

USUAL = "lda-dt"
SINGLE, SEVERAL = 10, 1
"""Places that are shown of the one topic, and of each where there are several."""


def rank(
    files: Sequence[str],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    topic: Sequence[str] = (),
    measure: Sequence[str] = (),
    top: int | None = None,
    without_times: bool = False,
    i_am_the_operator: bool = False,
    knowing: Knowing | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Rank the people of a community, or of a query log, by their exposure to sensitive topics.

    This ranks other people, as an adversary would: it is for those who are
    responsible for them, and wants to be told so. The directory holds people's
    words and ranks and is for its owner only. To look at your own texts, see
    `aidos risk local`.

    For example:
        aidos risk rank posts.parquet --topic depression --measure lda-dt -o ranks --i-am-the-operator
        aidos risk rank log.tsv --topic debt --topic hiv --measure all -o ranks --i-am-the-operator
        aidos risk rank posts.csv --without-times --measure lda-d -o ranks --i-am-the-operator

    Parameters
    ----------
    files
        The community's posts, or a query log: files or glob patterns.
    output
        The directory to write.
    topic
        A sensitive topic, see `aidos risk topics`; may be repeated; all that can be measured unless given.
    measure
        How risk is measured, for example lda-d or lda-dt:recurring=4, or all; may be repeated; lda-dt unless given.
    top
        How many people are shown of each topic; 10 unless given, and 1 where there are several topics or measures.
    without_times
        Read .csv, .tsv, .jsonl or .parquet files with author_id and text, and no look at times.
    i_am_the_operator
        You are responsible for these people, and may rank them.
    """
    from aidos.app.risk.directory import RiskDirectory
    from aidos.app.risk.entries import read_entries
    from aidos.app.risk.knowledge import choose_measures
    from aidos.app.risk.ranking import first_places, rank_community

    common = common or Common()
    _refuse(top, is_operator=i_am_the_operator)
    directory = RiskDirectory(output)
    directory.refuse_taken()
    knowledge = (knowing or Knowing()).knowledge(common)
    measures = choose_measures(measure, knowledge, USUAL)
    progress = TerminalProgress(quiet=common.quiet)
    options = (how or HowToRead()).options()
    with (
        open_engine(common) as engine,
        remark_if_slow("the first run also compiles; the next will find it ready", quiet=common.quiet),
        read_entries(engine, files, options, without_times=without_times).held() as entries,
    ):
        ranked = rank_community(entries, topic, measures, knowledge, threads=common.threads, progress=progress)
        directory.create(ranked.state, entries)
        placed = first_places(directory, ranked.state, engine, top=top or _usual_places(ranked))
    return _tell(output, ranked, placed, common)


def add(
    files: Sequence[str],
    /,
    *,
    where: Where,
    without_times: bool = False,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Take in new posts or queries: all ranks change, and nothing is computed again.

    For example:
        aidos risk add new-posts.jsonl --in ranks

    Parameters
    ----------
    files
        New posts or queries: files or glob patterns.
    without_times
        Read files with author_id and text, and no look at times.
    """
    from aidos.app.risk.entries import read_entries
    from aidos.exposure.risk.people import read_people
    from aidos.report.terminal import facts_table

    common = common or Common()
    options = (how or HowToRead()).options()
    directory = where.ranking()
    with open_engine(common) as engine, directory.writing() as store:
        first = store.state.next_entry
        with read_entries(engine, files, options, without_times=without_times, first=first).held() as entries:
            people = read_people(entries, analyser=store.state.plan.analyser)
            store.state.plan.check_people(people)
            change = directory.add(store, entries, people)
        everybody = len(store.state)
    facts = {
        "entries": change.entries,
        "people concerned": len(change.people),
        "new people": change.new_people,
        "people ranked": everybody,
    }
    if common.json:
        show_json({name.replace(" ", "_"): value for name, value in facts.items()})
    else:
        show(facts_table(list(facts.items())))
    return 0


def _refuse(top: int | None, *, is_operator: bool) -> None:
    if not is_operator:
        raise ParameterError(
            "this ranks other people by how vulnerable they seem, which only those who are responsible for them may do",
            hint="say so with --i-am-the-operator, or look at your own texts with `aidos risk local`",
        )
    if top is not None and top < 1:
        raise ParameterError(f"--top must be at least 1, got {top}")


def _usual_places(ranked: Ranked) -> int:
    plan = ranked.state.plan
    return SINGLE if len(plan.topics) * len(plan.measures) == 1 else SEVERAL


def _tell(output: Path, ranked: Ranked, placed: Sequence[Placed], common: Common) -> int:
    from aidos.app.risk.ranking import RANK_COLUMNS, rank_rows
    from aidos.report.terminal import facts_table, rows_table

    facts, plan = asdict(ranked.facts), ranked.state.plan
    if common.json:
        show_json(
            {
                "directory": str(output),
                "topics": plan.topics,
                "measures": [str(measure) for measure in plan.measures],
                **facts,
                "left_out": ranked.left_out,
                "first": [asdict(each) for each in placed],
            }
        )
        return 0
    show(facts_table([("directory", str(output)), *((name.replace("_", " "), value) for name, value in facts.items())]))
    show(rows_table(RANK_COLUMNS, rank_rows(placed), title="who would be found first"))
    if ranked.left_out:
        tell(f"nobody speaks of {', '.join(ranked.left_out)}", quiet=common.quiet)
    tell(f"this is a finding, not for release: {output / 'ranks.parquet'} has everybody", quiet=common.quiet)
    return 0
