"""The job that publishes: from data to a release; check, rehearse, charge, run, write, settle.

The order protects people first and the owner second. What cannot work is refused before anything is spent; the charge
is on disk before the mechanism meets the data; the directory appears whole; and only then is the charge remarked as
published. A crash anywhere in between leaves a charge that counts as spent, and no directory. Without a directory (in
Python) the release is the caller's as soon as it is made, and the charge is remarked then.

Whether a release fails must not tell anything about people. So no check looks at rows: those before the charge use
public numbers and names of columns, and after it nothing is checked. What can fail for reasons that lie in the data is
a machine that runs out of memory or disk.

What to release, and under which promise, is declared here; a plan asks the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import CROWD, LONG_SEED
from aidos.core.progress import Stopwatch
from aidos.errors import AidosError, EngineError, ParameterError
from aidos.ingest.options import HowToRead
from aidos.jobs.desk import Desk
from aidos.jobs.job import Commas, Instead, RequiredInTerminal, Section, Short
from aidos.rooms.publish.directory import PublishedLog
from aidos.rooms.publish.histogram import ItemParameters

if TYPE_CHECKING:
    from aidos.account.ledger import Booking, FileLedger
    from aidos.core.guarantee import Guarantee
    from aidos.core.mechanism import PublicFacts
    from aidos.core.noise import Noise
    from aidos.core.table import Table
    from aidos.jobs.recipe import Recipe
    from aidos.rooms.publish.catalogue import Built
    from aidos.rooms.publish.outlook import Outlook

__all__ = ["TITLE", "Publish", "Terms", "What", "publish_table"]

TITLE = "What to release"


@dataclass(frozen=True, slots=True, kw_only=True)
class What:
    """What to release, and under which promise."""

    items: Annotated[tuple[str, ...], Commas(repeated=True)] = ("queries",)
    """Kinds of items with commas between: keywords, queries, clicks, pairs."""
    mechanism: str = "steered-counts"
    """How: steered-counts, steered-rounds (no counts, most items), count-gaussian, zealous, pool-release..."""
    budget: Annotated[ItemParameters | None, Section(TITLE)] = None
    shares: Annotated[tuple[float, ...], Commas(repeated=True)] = ()
    """Shares of the budget, one for each kind with commas between; equal if unset."""
    set: tuple[str, ...] = ()
    """Another parameter of the mechanism, as NAME=VALUE; may be repeated."""
    people: Annotated[int | None, Ge(1), CROWD] = None
    """How many people there are, about, if that is public; some mechanisms need it. The ledger may know it."""
    person: str = ""
    """For a table that is no search log: the column that says whose row it is."""
    item: Annotated[tuple[str, ...], Commas(repeated=True)] = ()
    """For such a table: the columns that make one item, with commas between."""
    sets: Annotated[int, Ge(1), Le(100)] = 1
    """For such a table: release sets of up to so many items."""
    results: str = ""
    """For click-counts: a public list, with query, tab, result on each line."""
    recipe: Path | None = None
    """A recipe's file, in place of these options."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def to_recipe(self) -> Recipe:
        """As a recipe; mechanisms that need the number of people get the one that is public."""
        from aidos.jobs.recipe import Recipe, read_recipe
        from aidos.rooms.publish.catalogue import complete

        if self.recipe is not None:
            if replace(self, people=None) != What(recipe=self.recipe):
                raise ParameterError("a recipe takes the place of the other options", hint="change the recipe instead")
            return read_recipe(self.recipe)
        return complete(
            Recipe(
                mechanism=self.mechanism,
                items=() if self.person else self.items,
                parameters=dict(self._parameters()),
                shares=self.shares,
                person=self.person,
                columns=self.item,
                largest_set=self.sets,
                results=self.results,
            )
        )

    def _parameters(self) -> Iterator[tuple[str, object]]:
        """Those that were given: what the mechanism does not have is refused when it is made."""
        from aidos.rooms.publish.catalogue import find_mechanism

        takes = {each.name for each in fields(find_mechanism(self.mechanism))}
        given = {} if self.budget is None else asdict(self.budget)
        usual = asdict(ItemParameters())
        kept = {name: value for name, value in given.items() if name in takes or value != usual[name]}
        yield from (kept or given).items()
        if self.people is not None and "people" in takes:
            yield "people", self.people
        yield from map(_parameter, self.set)


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


READING, REHEARSING, COUNTING = "reading", "rehearsing", "bounding and counting"
NOISE, WRITING = "noise and choosing", "writing"
LARGEST_DELTA = 1e-5
"""Without a public number of people: one in a hundred thousand, which most logs that are worth publishing have."""
LACKING = "name a log and, with -o, the directory to write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On which terms the release is made."""

    ledger: Path | None = None
    """The ledger of these data; open one with `aidos ledger open`."""
    without_ledger: bool = False
    """Charge nothing and promise nothing: for synthetic data."""
    accept_large_delta: bool = False
    """Go on although delta is larger than one in --people, or than 1e-5 where that is not given."""
    yes: bool = False
    """Spend the budget although next to nothing may come out."""
    seed: Annotated[int | None, Ge(0), LONG_SEED] = None
    """Repeatable noise, for tests and simulations: the release then carries no guarantee."""
    finding: Path | None = None
    """Also compare the release with the truth, on a page for the owner only."""


@dataclass(frozen=True, slots=True)
class Publish:
    """Release a search log with a guarantee that holds.

    The release is a directory: a Parquet and a CSV file for each kind of item,
    a manifest, a page and a letter to its readers. The ledger of the data is
    charged before the data are used. Queries are normalised before counting.

    For example:
        aidos publish log.tsv --ledger log.ledger -o release
        aidos publish log.tsv --items queries,clicks --epsilon 2 --ledger log.ledger -o release
        aidos publish baskets.csv --person customer --item product --sets 2 --ledger b.ledger -o release
        aidos publish --plan --items queries -o plan.html
    """

    instead: ClassVar[Instead] = Instead(
        "plan",
        "plan",
        "Spend nothing: show on the sample world (or on FILES, if they are public) what each choice would give.",
    )

    files: tuple[str, ...] = ()
    """A search log of any known format, or a table (Parquet, CSV) with --person and --item."""
    _: KW_ONLY
    output: Annotated[Path | None, Short("-o"), RequiredInTerminal(LACKING)] = None
    """The directory to write, which must not exist (with --plan: the page to write)."""
    what: Annotated[What, Section(TITLE)] = field(default_factory=What)
    terms: Annotated[Terms, Section("Ledger and noise")] = field(default_factory=Terms)
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> PublishedLog:
        """Refuse what cannot work, then read, charge, run and write."""
        from aidos.account.ledger import FileLedger
        from aidos.core.mechanism import PublicFacts
        from aidos.core.noise import Noise
        from aidos.rooms.publish.catalogue import build_release
        from aidos.rooms.publish.sources import read_for_release

        if not self.files:
            raise ParameterError(LACKING, hint="see: aidos publish --help")
        ledger = None if self.terms.ledger is None else FileLedger(self.terms.ledger)
        what = self.what
        if ledger is not None and what.people is None:
            what = replace(what, people=ledger.state().people)
        recipe, facts = what.to_recipe(), PublicFacts(people=what.people, vouched=self.how.vouched())
        built = build_release(recipe)
        expected = self._refuse(built, facts, desk)
        self._ask(ledger, built, facts, desk)
        noise = desk.noise if self.terms.seed is None else Noise(self.terms.seed)
        with desk.engine() as engine:
            engine.progress = watch = Stopwatch(engine.progress, inside={NOISE: COUNTING})
            with watch.phase(READING):
                table = read_for_release(engine, self.files, built, self.how)
            made = publish_table(recipe, table, self.output, ledger=ledger, noise=noise, facts=facts, watch=watch)
            if self.terms.finding is not None:
                _save_finding(made, table, self.terms.finding)
        return replace(made, expected=expected, seconds=watch.seconds())

    def _refuse(self, built: Built, facts: PublicFacts, desk: Desk) -> Sequence[Outlook]:
        """Refuse what cannot work, by public numbers; otherwise tell what may be expected."""
        from aidos.rooms.publish.directory import check_room
        from aidos.rooms.publish.outlook import outlook, refuse_next_to_nothing

        if not self.terms.accept_large_delta:
            _refuse_large_delta(built.guarantee(facts), facts, desk)
        if self.output is not None:
            check_room(self.output)
        if self.terms.finding is not None:
            _refuse_place(self.terms.finding, self.output, desk)
        expected = outlook(built, facts)
        if self.terms.ledger is not None and not self.terms.yes:
            refuse_next_to_nothing(built, expected, desk)
        for one in (*expected, *filter(None, [facts.vouched])):
            desk.remark(str(one))
        return expected

    def _ask(self, ledger: FileLedger | None, built: Built, facts: PublicFacts, desk: Desk) -> None:
        """Whether the ledger is that of these files and has room for the guarantee: before the data are read."""
        from aidos.account.budget import Spend
        from aidos.account.opening import recognise_data
        from aidos.rooms.publish.sources import data_set

        if ledger is None:
            if self.terms.without_ledger:
                return
            opening = (
                f"aidos ledger open {' '.join(self.files)} --epsilon 1 --delta 1e-6 -o FILE"
                if desk.in_terminal
                else 'aidos.Ledger.open(log, epsilon=1, delta=1e-6, output="FILE")'
            )
            raise ParameterError(
                "no ledger was named, and without one nothing bounds what was released before",
                hint=f"{opening}; for synthetic data: {desk.spelled('without_ledger', True)}",
            )
        ledger.witnessed()
        state = ledger.state()
        state.budget.admit(state.spends, Spend(built.guarantee(facts), built.gaussian_part()))
        if recognise_data(ledger, data_set(self.files)):
            desk.remark(f"the data have changed since the last release and are mostly the same: {ledger.path} goes on")


def publish_table(  # noqa: PLR0913 (what to release of what and where to, and on which terms)
    recipe: Recipe,
    table: Table,
    target: Path | None,
    *,
    ledger: FileLedger | None,
    noise: Noise,
    facts: PublicFacts,
    watch: Stopwatch | None = None,
) -> PublishedLog:
    """Make the release and, where a directory is named, write it; the charge is settled last."""
    from aidos.account.ledger import Booking
    from aidos.jobs.release import release
    from aidos.rooms.publish.catalogue import build_release
    from aidos.rooms.publish.directory import rehearse

    watch, built = watch or Stopwatch(), build_release(recipe)
    with watch.phase(REHEARSING):
        rehearse(built, recipe, table, target, facts)
    about = "" if target is None else target.name
    booking = None if ledger is None else Booking(ledger, built.gaussian_part(), about=about)
    with watch.phase(NOISE):
        made = PublishedLog.of(release(built, table, ledger=booking, noise=noise, facts=facts), recipe, facts)
    if booking is not None:
        made = replace(made, entry=booking.entry())
    if target is not None:
        with watch.phase(WRITING):
            _write(made, target, booking)
        return replace(made, directory=target)
    if booking is not None:
        with suppress(AidosError):  # it is spent in any case, and what was made must not be lost for a remark
            booking.settle("published")
    return made


def _write(made: PublishedLog, target: Path, booking: Booking | None) -> None:
    """Write and settle; a release that stands elsewhere than asked is an error that says where."""
    from aidos.rooms.publish.directory import write_or_rescue

    try:
        place = write_or_rescue(made, target)
    except AidosError as error:
        if booking is not None:
            booking.settle("abandoned")
        raise EngineError(
            f"{error.message}, and neither could other places; the release is lost, and its charge stays spent",
            hint="make room before you publish again: that is charged again",
        ) from error
    if booking is not None:
        booking.settle("published")
    if place != target:
        raise EngineError(
            f"{target} could not be written; the release was made and is in {place}",
            hint=f"move it: mv {place} {target}; to publish again would be charged again",
        )


def _save_finding(made: PublishedLog, table: Table, path: Path) -> None:
    from aidos.jobs.answer import save_page
    from aidos.rooms.publish.truth import compare_with_truth

    try:
        save_page(compare_with_truth(made, table).page(), path)
    except AidosError as error:
        raise EngineError(f"the release stands, its finding does not: {error.message}", hint=error.hint) from error


def _refuse_large_delta(guarantee: Guarantee, facts: PublicFacts, desk: Desk) -> None:
    """Refuse a delta that would let somebody out, by public numbers alone: nobody is counted before the charge.

    With a public number of people, delta may be one in it. Without one it may be `LARGEST_DELTA`.
    """
    delta = float(getattr(guarantee, "delta", 0.0))
    most = LARGEST_DELTA if facts.people is None else 1 / facts.people
    if delta <= most:
        return
    reason = f"more than {LARGEST_DELTA:g}" if facts.people is None else f"more than one in {facts.people:,} people"
    known = f"say with {desk.spelled('people')} how many people there are, if that is public, or "
    accepting = f"add {desk.spelled('accept_large_delta', True)} if that is meant"
    raise ParameterError(
        f"delta = {delta:g} is {reason}: it would allow publishing somebody outright",
        hint=f"choose a smaller {desk.spelled('delta')}; {known if facts.people is None else ''}{accepting}",
    )


def _refuse_place(finding: Path, output: Path | None, desk: Desk) -> None:
    """Refuse a place for the finding that cannot be written, or that would be handed over with the release."""
    parent = finding.resolve().parent
    if finding.is_dir() or not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        hint = f"name a file in a directory of yours with {desk.spelled('finding')}"
        raise ParameterError(f"{finding} cannot be written", hint=hint)
    if output is not None and output.resolve() in finding.resolve().parents:
        raise ParameterError(f"{finding} is inside the release", hint="a finding holds the truth: put it elsewhere")
