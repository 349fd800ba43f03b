"""`aidos risk rank`: the ranks of a community."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.risk.telling import Knowing, remark_if_compiling, require_extra
from aidos.app.console import Common, TerminalProgress, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.app.risk.knowledge import Knowledge
    from aidos.app.risk.ranking import Placed, Ranked
    from aidos.exposure.risk.ranking import RiskRanking

__all__ = ["rank"]

USUAL = "lda-dt"
SINGLE, SEVERAL = 10, 1
"""Places that are shown of the one topic, and of each where there are several."""
MOST_LISTED = 30
"""Topics times measures up to which first places are listed; beyond there is a line for each measure."""
MOST_NAMED = 12
"""Topics that a remark names."""


def rank(
    files: Sequence[str],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    topic: Sequence[str] = (),
    measure: Sequence[str] = (),
    recipe: Path | None = None,
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
    `aidos risk local`. People of whom nothing is near a topic are ranked as the
    formula says and told as "no evidence"; they are not among those shown.

    For example:
        aidos risk rank posts.parquet --topic depression --measure lda-dt -o ranks --i-am-the-operator
        aidos risk rank log.tsv --topic debt --topic hiv --measure all -o ranks --i-am-the-operator
        aidos risk rank posts.csv --without-times --measure lda-d -o ranks --i-am-the-operator
        aidos risk rank new-posts.csv --recipe ranks/recipe.toml -o new-ranks --i-am-the-operator

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
    recipe
        A recipe's file, in place of --topic and --measure; every ranking has its own in recipe.toml.
    top
        How many people are shown of each topic; 10 unless given, and 1 where there are several topics or measures.
    without_times
        Read .csv, .tsv, .jsonl or .parquet files with author_id and text, and no look at times.
    i_am_the_operator
        You are responsible for these people, and may rank them.
    """
    common = common or Common()
    _refuse(top, is_operator=i_am_the_operator)
    require_extra()
    from aidos.app.risk.directory import RiskDirectory
    from aidos.app.risk.entries import read_entries
    from aidos.app.risk.ranking import first_places, rank_community
    from aidos.app.risk.repeats import leave_out_repeats

    directory = RiskDirectory(output)
    directory.refuse_taken()
    knowledge = (knowing or Knowing()).knowledge(common)
    ranking = _ranking(topic, measure, recipe, knowledge)
    progress = TerminalProgress(quiet=common.quiet)
    with (
        open_engine(common) as engine,
        remark_if_compiling(quiet=common.quiet),
        read_entries(engine, files, (how or HowToRead()).options(), without_times=without_times).held() as came,
        leave_out_repeats(came).held() as entries,
    ):
        ranked = rank_community(entries, ranking, knowledge, threads=common.threads, progress=progress)
        directory.create(ranked.state, entries)
        places = top or _usual_places(ranked)
        placed = first_places(directory, ranked, engine, top=places) if places else []
        repeated = came.count() - entries.count()
    return _tell(output, ranked, placed, repeated, common)


def _ranking(topic: Sequence[str], measure: Sequence[str], recipe: Path | None, knowledge: Knowledge) -> RiskRanking:
    """What is asked for, by options or by a recipe."""
    from aidos.app.catalogue import find_mechanism
    from aidos.app.recipe import fill_parameters, read_recipe
    from aidos.app.risk.knowledge import choose_measures
    from aidos.app.risk.manifest import MECHANISM
    from aidos.exposure.risk.measure import RiskMeasure
    from aidos.exposure.risk.ranking import RiskRanking

    if recipe is None:
        chosen = choose_measures(measure, knowledge, USUAL)
        return RiskRanking(topics=tuple(topic), measures=tuple(map(str, chosen)))
    if topic or measure:
        raise ParameterError(
            "a recipe takes the place of --topic and --measure", hint="change the recipe, or leave it out"
        )
    read = read_recipe(recipe)
    kind = find_mechanism(read.mechanism)
    if kind is RiskRanking:
        made: RiskRanking = fill_parameters(MECHANISM, RiskRanking, read.parameters)
        return made
    if issubclass(kind, RiskMeasure):
        # One measure is a recipe as well: it ranks by all topics that it can measure.
        return RiskRanking(measures=(str(fill_parameters(read.mechanism, kind, read.parameters)),))
    raise ParameterError(
        f"{recipe} is a recipe for {read.mechanism}, which ranks nobody", hint=f"a ranking is made by {MECHANISM}"
    )


def _refuse(top: int | None, *, is_operator: bool) -> None:
    if not is_operator:
        raise ParameterError(
            "this ranks other people by how vulnerable they seem, which only those who are responsible for them may do",
            hint="say so with --i-am-the-operator, or look at your own texts with `aidos risk local`",
        )
    if top is not None and top < 1:
        raise ParameterError(f"--top must be at least 1, got {top}")


def _usual_places(ranked: Ranked) -> int:
    """None at all where there would be more lines than anybody reads."""
    plan = ranked.state.plan
    lines = len(plan.topics) * len(plan.measures)
    return SINGLE if lines == 1 else SEVERAL if lines <= MOST_LISTED else 0


def _tell(output: Path, ranked: Ranked, placed: Sequence[Placed], repeated: int, common: Common) -> int:
    from aidos.app.risk.ranking import summarise

    facts, plan = asdict(ranked.facts), ranked.state.plan
    summaries = summarise(ranked.state)
    if common.json:
        show_json(
            {
                "directory": str(output),
                "topics": plan.topics,
                "measures": [str(measure) for measure in plan.measures],
                **facts,
                "repeated_entries": repeated,
                "left_out": ranked.left_out,
                "summary": [asdict(each) for each in summaries],
                "first": [asdict(each) for each in placed],
            }
        )
        return 0
    _show(output, ranked, placed, repeated)
    if ranked.left_out:
        tell(f"nobody uses a word of {_named(ranked.left_out)}", quiet=common.quiet)
    alike: dict[tuple[str, ...], list[str]] = {}
    for each in summaries:
        alike.setdefault(each.unheard, []).append(each.measure.partition(":")[0])
    for unheard, names in alike.items():
        if unheard:
            tell(f"no evidence by {', '.join(names)}: nobody is near {_named(unheard)}", quiet=common.quiet)
    tell(f"this is a finding, not for release: {output / 'ranks.parquet'} has everybody", quiet=common.quiet)
    return 0


def _show(output: Path, ranked: Ranked, placed: Sequence[Placed], repeated: int) -> None:
    from aidos.app.risk.ranking import RANK_COLUMNS, SUMMARY_COLUMNS, rank_rows, summarise, summary_rows
    from aidos.report.terminal import facts_table, rows_table

    plan = ranked.state.plan
    told = [(name.replace("_", " "), value) for name, value in asdict(ranked.facts).items()]
    again = [("entries that came twice", repeated)] if repeated else []
    show(facts_table([("directory", str(output)), *told, *again]))
    if placed:
        show(rows_table(RANK_COLUMNS, rank_rows(placed), title="who would be found first"))
    elif len(plan.topics) * len(plan.measures) > MOST_LISTED:
        rows = summary_rows(summarise(ranked.state))
        show(rows_table(SUMMARY_COLUMNS, rows, title="what each measure found; --top 1 lists who would be found first"))
    else:
        show("no evidence: nobody is near any of these topics")


def _named(topics: Sequence[str]) -> str:
    more = len(topics) - MOST_NAMED
    return ", ".join(topics[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
