"""`aidos publish`: release a search log with a guarantee that holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.console import Common, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.app.stopwatch import READING, Stopwatch
from aidos.errors import AidosError, EngineError, ParameterError

if TYPE_CHECKING:
    from aidos.app.publishing import ReleasedLog
    from aidos.app.recipe import Recipe
    from aidos.core.table import Table

__all__ = ["Done", "Terms", "What", "publish"]


@Parameter(name="*", group="What to release")
@dataclass(frozen=True, slots=True, kw_only=True)
class What:
    """What to release, and under which promise."""

    items: str = "queries"
    """Kinds of items with commas between: keywords, queries, clicks, pairs."""

    mechanism: str = "steered-counts"
    """How: steered-counts, steered-rounds (no counts, most items), count-gaussian, zealous, pool-release..."""

    epsilon: float | None = None
    """Privacy loss of one person, at most, for all items together; 1 unless given."""

    delta: float | None = None
    """Chance that the promise fails, for all items together; 1e-6 unless given."""

    items_per_person: int | None = None
    """Items of each kind that are kept of each person; 10 unless given."""

    shares: str = ""
    """Shares of the budget, one for each kind with commas between; equal unless given."""

    set: Sequence[str] = ()
    """Another parameter of the mechanism, as NAME=VALUE; may be repeated."""

    person: str = ""
    """For a table that is no search log: the column that says whose row it is."""

    item: str = ""
    """For such a table: the columns that make one item, with commas between."""

    sets: int = 1
    """For such a table: release sets of up to so many items."""

    results: str = ""
    """For click-counts: a public list, with query, tab, result on each line."""

    recipe: Path | None = None
    """A recipe's file, in place of these options."""

    def to_recipe(self, people: int | None = None) -> Recipe:
        """As a recipe; mechanisms that need the number of people get the one that is public."""
        from aidos.app.catalogue import find_mechanism
        from aidos.app.recipe import Recipe, read_recipe

        if self.recipe is not None:
            if self != What(recipe=self.recipe):
                raise ParameterError("a recipe takes the place of the other options", hint="change the recipe instead")
            return read_recipe(self.recipe)
        basic = {"epsilon": self.epsilon, "delta": self.delta, "items_per_person": self.items_per_person}
        takes = {each.name for each in fields(find_mechanism(self.mechanism))}
        public = {"people": people} if "people" in takes else {}
        given = {name: value for name, value in (basic | public).items() if value is not None}
        return Recipe(
            mechanism=self.mechanism,
            items=() if self.person else tuple(_words(self.items)),
            parameters={**given, **dict(_parameter(text) for text in self.set)},
            shares=tuple(_number("--shares", word) for word in _words(self.shares)),
            person=self.person,
            columns=tuple(_words(self.item)),
            largest_set=self.sets,
            results=self.results,
        ).complete()


@Parameter(name="*", group="Ledger and noise")
@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On which terms the release is made."""

    ledger: Path | None = None
    """The ledger of these data; open one with `aidos ledger open`."""

    without_ledger: bool = False
    """Charge nothing and promise nothing: for synthetic data."""

    accept_large_delta: bool = False
    """Go on although delta is larger than one in --people, or than 1e-5 where that is not given."""

    people: int | None = None
    """The number of people in the data, if that is public; some mechanisms need it."""

    yes: bool = False
    """Spend the budget although next to nothing is expected to come out."""

    seed: int | None = None
    """Repeatable noise, for tests and simulations: the release then carries no guarantee."""

    finding: Path | None = None
    """Also compare the release with the truth, on a page for the owner only."""


@dataclass(frozen=True, slots=True)
class Done:
    """A release, what was expected of it, and the seconds that each phase took: those are for the owner alone."""

    made: ReleasedLog
    outlook: Sequence[Mapping[str, object]]
    seconds: Mapping[str, Mapping[str, float]]


def publish(
    files: Sequence[str] = (),
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    plan: bool = False,
    what: What | None = None,
    terms: Terms | None = None,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Release a search log with a guarantee that holds.

    The release is a directory: a Parquet and a CSV file for each kind of item,
    a manifest, a page and a letter to its readers. The ledger of the data is
    charged before the data are used. Queries are normalised before counting.

    For example:
        aidos publish log.tsv --ledger log.ledger -o release
        aidos publish log.tsv --items queries,clicks --epsilon 2 --ledger log.ledger -o release
        aidos publish baskets.csv --person customer --item product --sets 2 --ledger b.ledger -o release
        aidos publish --plan --items queries -o plan.html

    Parameters
    ----------
    files
        A search log of any known format, or a table (Parquet, CSV) with --person and --item.
    output
        The directory to write, which must not exist (with --plan: the page to write).
    plan
        Spend nothing: show on the sample world (or on FILES, if they are public) what each choice would give.
    """
    common, how, terms = common or Common(), how or HowToRead(), terms or Terms()
    recipe = (what or What()).to_recipe(terms.people)
    if plan:
        from aidos.app.plan import show_plan

        return show_plan(recipe, files, output, how, common, people=terms.people)
    if not files or output is None:
        raise ParameterError("name a log and, with -o, the directory to write", hint="see: aidos publish --help")
    return _tell(_release(files, output, recipe, terms, how, common), output, common)


def _release(  # noqa: PLR0917
    files: Sequence[str], output: Path, recipe: Recipe, terms: Terms, how: HowToRead, common: Common
) -> Done:
    """Refuse what cannot work, then read, charge, run and write."""
    from aidos.app.outlook import outlook, refuse_next_to_nothing
    from aidos.app.publishing import check_delta, check_finding, publish_table, usable_ledger
    from aidos.app.tabledata import read_for_release
    from aidos.app.writing import check_room
    from aidos.core.mechanism import PublicFacts
    from aidos.core.noise import Noise

    facts = PublicFacts(people=terms.people, vouched=how.vouched())
    mechanism = recipe.build()
    guarantee = mechanism.guarantee(facts)
    check_delta(guarantee, facts, accept_large_delta=terms.accept_large_delta)
    check_room(output)
    check_finding(terms.finding, output)
    expected = outlook(recipe, facts)
    if terms.ledger is not None and not terms.yes:
        refuse_next_to_nothing(expected)
    for one in (*expected, *filter(None, [facts.vouched])):
        tell(str(one), quiet=common.quiet)
    ledger = usable_ledger(terms.ledger, files, guarantee, mechanism, may_be_missing=terms.without_ledger)
    with open_engine(common) as engine:
        engine.progress = watch = Stopwatch(engine.progress)
        with watch.phase(READING):
            table = read_for_release(engine, files, recipe, how)
        made = publish_table(recipe, table, output, ledger=ledger, noise=Noise(terms.seed), facts=facts, watch=watch)
        if terms.finding is not None:
            _write_finding(made, recipe, table, terms.finding)
    return Done(made, [one.facts() for one in expected], watch.seconds())


def _write_finding(made: ReleasedLog, recipe: Recipe, table: Table, path: Path) -> None:
    from aidos.app.truth import write_finding

    try:
        write_finding(made, recipe, table, path)
    except AidosError as error:
        raise EngineError(f"the release stands, its finding does not: {error.message}", hint=error.hint) from error


def _tell(done: Done, output: Path, common: Common) -> int:
    from aidos.core.guarantee import statement
    from aidos.report.terminal import rows_table

    made = done.made
    if common.json:
        rows = {kind: len(histogram) for kind, histogram in made.value.items()}
        said = {"directory": str(output), "statement": statement(made.guarantee), "rows": rows}
        show_json({**said, "outlook": done.outlook, "seconds": done.seconds})
        return 0
    show(rows_table(("items", "released"), [(kind, len(histogram)) for kind, histogram in made.value.items()]))
    show(statement(made.guarantee))
    if not any(map(len, made.value.values())):
        tell("nothing passed the threshold: a valid, empty release")
    tell(f"{output}: open report.html, hand over the directory", quiet=common.quiet)
    return 0


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ParameterError(f"{option} takes numbers with commas between, got {text!r}") from error


def _parameter(text: str) -> tuple[str, object]:
    """NAME=VALUE; a value that looks like a number is one."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ParameterError("--set takes NAME=VALUE", hint="for example --set promise=probabilistic")
    for kind in (int, float):
        try:
            return name.replace("-", "_"), kind(value)
        except ValueError:
            continue
    return name.replace("-", "_"), value
