"""The job that ranks a community, as somebody would who looks for the vulnerable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import SHOWN
from aidos.errors import ParameterError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.asking import ask_job
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Section
from aidos.jobs.options import Filled
from aidos.rooms.risk.jobs.options import Knowing, remark_if_compiling, told_facts

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.jobs.recipe import Recipe
    from aidos.report.page import Block
    from aidos.rooms.risk.community import Placed, Ranked, Summary
    from aidos.rooms.risk.directory import RiskDirectory
    from aidos.rooms.risk.jobs.person import PersonsRanks

__all__ = ["RankCommunity", "RankedCommunity"]

USUAL = "lda-dt"
SINGLE, SEVERAL = 10, 1
"""Places that are shown of the one topic, and of each where there are several."""
MOST_LISTED = 30
"""Topics times measures up to which first places are listed; beyond there is a line for each measure."""
MOST_NAMED = 12
"""Topics that a remark names."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RankedCommunity(Finding):
    """Everybody's ranks, those who would be found first, and what each measure found."""

    about: str = "the ranked people"
    value: Ranked
    """The state of the ranking, and the people as they were read."""
    kept: RiskDirectory
    """Where the entries are: in a directory, or in memory where none was named."""
    output: Path | None = None
    """Where the ranking is kept."""
    first: tuple[Placed, ...] = ()
    """Those who stand first, by topic and measure."""
    summary: tuple[Summary, ...] = ()
    repeated_entries: int = 0
    """Entries that came twice, and were counted once."""

    def facts(self) -> Mapping[str, object]:
        """Counts, a line for each measure, and who stands first."""
        plan = self.value.state.plan
        return {
            "directory": str(self.output or ""),
            "topics": plan.topics,
            "measures": [str(measure) for measure in plan.measures],
            **asdict(self.value.facts),
            "repeated_entries": self.repeated_entries,
            "left_out": self.value.left_out,
            "summary": [asdict(each) for each in self.summary],
            "first": [asdict(each) for each in self.first],
        }

    def table(self) -> pa.Table:
        """A row for each person, topic and measure."""
        from aidos.rooms.risk.ranking import ranks_table

        return ranks_table(self.value.state)

    def top(self, number: int) -> pa.Table:
        """The rows of those who stand on the first places of each topic and measure, and come near to the topic."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = self.table().filter((pc.field("rank") <= number) & pc.field("evidence"))
        # Arrow sorts no columns that are coded.
        coded = [field.name for field in rows.schema if pa.types.is_dictionary(field.type)]
        for name in coded:
            rows = rows.set_column(rows.schema.get_field_index(name), name, rows[name].cast(pa.string()))
        return rows.sort_by([("topic", "ascending"), ("measure", "ascending"), ("rank", "ascending")])

    def person(self, person_id: str, **wanted: object) -> PersonsRanks:
        """Where one person ranks, and which posts put her there; parameters are those of `aidos risk person`."""
        from aidos.rooms.risk.jobs.person import ShowPerson

        given = {"person_id": person_id, "directory": self.kept.path, **wanted}
        question: ShowPerson = ask_job(ShowPerson, given, called="person")
        return question.told(self.kept, self.value.state, Desk()) if self.output is None else question.run(Desk())

    def blocks(self) -> Sequence[Block]:
        """Counts, and who would be found first; a line for each measure where that would be too many."""
        from aidos.report.page import DataTable, Prose
        from aidos.rooms.risk.community import RANK_COLUMNS, SUMMARY_COLUMNS, rank_rows, summary_rows

        again = {"entries that came twice": self.repeated_entries} if self.repeated_entries else {}
        kept = {"directory": str(self.output)} if self.output else {}
        facts = told_facts(kept | asdict(self.value.facts) | again)
        if self.first:
            title = "who would be found first"
            return (facts, DataTable(caption=title, columns=RANK_COLUMNS, rows=tuple(rank_rows(self.first))))
        if _lines(self.value) > MOST_LISTED:
            title = "what each measure found; --top 1 lists who would be found first"
            return (facts, DataTable(caption=title, columns=SUMMARY_COLUMNS, rows=tuple(summary_rows(self.summary))))
        return (facts, Prose("no evidence: nobody is near any of these topics"))

    def remarks(self) -> Sequence[str]:
        """Topics of which there is nothing to tell, and where everybody's ranks are."""
        left_out = self.value.left_out
        told = [f"nobody uses a word of {_named(left_out)}"] if left_out else []
        alike: dict[tuple[str, ...], list[str]] = {}
        for each in self.summary:
            alike.setdefault(each.unheard, []).append(each.measure.partition(":")[0])
        told += [
            f"no evidence by {', '.join(names)}: nobody is near {_named(unheard)}"
            for unheard, names in alike.items()
            if unheard
        ]
        if self.output is not None:
            told.append(f"this is a finding, not for release: {self.output / 'ranks.parquet'} has everybody")
        return told


@dataclass(frozen=True, slots=True)
class RankCommunity(Filled):
    """Rank the people of a community, or of a query log, by their exposure to sensitive topics.

    This ranks other people, as an adversary would: it is for those who are
    responsible for them, who confirm it with --i-am-the-operator. The directory
    holds people's words and ranks and is for its owner only. To look at your
    own texts, see `aidos risk local`. People of whom nothing is near a topic
    are ranked as the formula says and told as "no evidence"; they are not
    among those shown.

    For example:
        aidos risk rank posts.parquet --topic depression --measure lda-dt -o ranks --i-am-the-operator
        aidos risk rank log.tsv --topic debt --topic hiv --measure all -o ranks --i-am-the-operator
        aidos risk rank posts.csv --without-times --measure lda-d -o ranks --i-am-the-operator
        aidos risk rank new-posts.csv --recipe ranks/recipe.toml -o new-ranks --i-am-the-operator
    """

    files: tuple[str, ...]
    """The community's posts, or a query log: files or glob patterns."""
    _: KW_ONLY
    topics: Annotated[tuple[str, ...], Named("--topic")] = ()
    """A sensitive topic, see `aidos risk topics`; may be repeated; all that can be measured if unset."""
    measures: Annotated[tuple[str, ...], Named("--measure")] = (USUAL,)
    """How risk is measured, for example lda-d or lda-dt:recurring=4, or all; may be repeated."""
    top: Annotated[int | None, Ge(1), SHOWN] = None
    """How many people are shown of each topic; if unset 10, and 1 where there are several topics or measures."""
    without_times: bool = False
    """Read .csv, .tsv, .jsonl or .parquet files with author_id and text, and no look at times."""
    i_am_the_operator: bool = False
    """You are responsible for these people, and may rank them."""
    knowing: Annotated[Knowing, Section("What the adversary knows")] = field(default_factory=Knowing)
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def __post_init__(self) -> None:
        if not self.i_am_the_operator:
            raise ParameterError(
                "this ranks other people by how vulnerable they seem, "
                "which only those who are responsible for them may do",
                hint="say so with --i-am-the-operator, or look at your own texts with `aidos risk local`",
            )
        check_parameters(self)

    def with_recipe(self, recipe: Recipe, path: Path) -> RankCommunity:
        """The same question with topics and measures of a recipe, which may also be for one measure alone."""
        from aidos.jobs.recipe import fill_parameters
        from aidos.rooms.risk.directory import MECHANISM
        from aidos.rooms.risk.measures import measure_kinds
        from aidos.rooms.risk.ranking import RiskRanking

        if self.topics or self.measures != (USUAL,):
            raise ParameterError(
                "a recipe takes the place of --topic and --measure", hint="change the recipe, or leave it out"
            )
        if recipe.mechanism == MECHANISM:
            ranking = fill_parameters(MECHANISM, RiskRanking, recipe.parameters)
            return replace(self, topics=ranking.topics, measures=ranking.measures)
        kinds = measure_kinds()
        if kind := kinds.get(recipe.mechanism):
            # One measure is a recipe as well: it ranks by all topics that it can measure.
            return replace(self, measures=(str(fill_parameters(recipe.mechanism, kind, recipe.parameters)),))
        if close := get_close_matches(recipe.mechanism, [MECHANISM, *kinds], n=1):
            hint = f"did you mean {close[0]}?"
            raise ParameterError(f"there is no mechanism called {recipe.mechanism}", hint=hint)
        raise ParameterError(
            f"{path} is a recipe for {recipe.mechanism}, which ranks nobody", hint=f"a ranking is made by {MECHANISM}"
        )

    def run(self, desk: Desk) -> RankedCommunity:
        """Read everybody's entries, rank, and keep the ranking where a directory is named."""
        from aidos.rooms.risk.community import first_places, rank_community, summarise
        from aidos.rooms.risk.directory import RiskDirectory
        from aidos.rooms.risk.models import choose_measures
        from aidos.rooms.risk.ranking import RiskRanking
        from aidos.rooms.risk.sources import leave_out_repeats, read_entries

        output = None if self.output is None else Path(self.output)
        if output is not None:
            RiskDirectory(output).refuse_taken()
        knowledge = self.knowing.knowledge(desk)
        ranking = RiskRanking(
            topics=tuple(self.topics), measures=tuple(map(str, choose_measures(self.measures, knowledge)))
        )
        with (
            desk.engine() as engine,
            remark_if_compiling(desk),
            read_entries(engine, self.files, self.how.options(), without_times=self.without_times).held() as came,
            leave_out_repeats(came).held() as entries,
        ):
            ranked = rank_community(entries, ranking, knowledge, desk)
            directory = RiskDirectory(output or engine.scratch / "ranking")
            directory.create(ranked.state, entries)
            places = self.top or _usual_places(ranked)
            return RankedCommunity(
                value=ranked,
                kept=directory if output else RiskDirectory(Path(), held=entries.fetch()),
                output=output,
                first=tuple(first_places(directory, ranked, engine, top=places)) if places else (),
                summary=tuple(summarise(ranked.state)),
                repeated_entries=came.count() - entries.count(),
            )


def _lines(ranked: Ranked) -> int:
    return len(ranked.state.plan.topics) * len(ranked.state.plan.measures)


def _usual_places(ranked: Ranked) -> int:
    """None at all where there would be more lines than anybody reads."""
    lines = _lines(ranked)
    return SINGLE if lines == 1 else SEVERAL if lines <= MOST_LISTED else 0


def _named(topics: Sequence[str]) -> str:
    more = len(topics) - MOST_NAMED
    return ", ".join(topics[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
