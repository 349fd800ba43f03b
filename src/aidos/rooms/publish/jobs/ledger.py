"""The jobs about the privacy budget of a source of data: open, show, extend, verify and close its ledger.

For Python `aidos.rooms.publish.ledger.Ledger` asks them: one value that stands for the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import CROWD
from aidos.errors import AidosError, BudgetError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section, Short

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.account.ledgerstate import Charge, LedgerState
    from aidos.report.page import Block

__all__ = [
    "CloseLedger",
    "ExtendLedger",
    "LedgerChanged",
    "LedgerShown",
    "LedgerVerified",
    "OpenLedger",
    "ShowLedger",
    "VerifyLedger",
]

AGREES = "is charged"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LedgerShown(Finding):
    """What was spent, what is left, and every charge."""

    about: str = "the releases of a source"
    value: LedgerState

    def facts(self) -> Mapping[str, object]:
        """All of it, but for the key."""
        state, budget = self.value, self.value.budget
        amounts = {"budget": (budget.epsilon, budget.delta), "spent": state.spent(), "left": state.left()}
        return {
            "id": state.id,
            "source": state.source,
            "states": len(state.parts),
            "declared_disjoint": list(state.disjoint),
            "opened": state.opened,
            "closed": state.closed,
            "neighbours": budget.neighbours.value,
            "unit": budget.unit.noun,
            "people": state.people,
            "accountant": budget.accountant.value,
            **{name: {"epsilon": epsilon, "delta": delta} for name, (epsilon, delta) in amounts.items()},
            "charges": [_charge_facts(charge) for charge in state.charges],
        }

    def table(self) -> pa.Table:
        """A row for each charge."""
        import pyarrow as pa

        return pa.Table.from_pylist([_charge_facts(charge) for charge in self.value.charges])

    def blocks(self) -> Sequence[Block]:
        """The amounts, the charges, and what fits next."""
        return tuple(_tables(self.value))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LedgerChanged(LedgerShown):
    """A ledger after it was opened, extended or closed."""

    done: str
    """What was done, in words."""
    more: Mapping[str, object] = field(default_factory=dict)
    """What there is to know besides what the ledger says."""
    path: Path | None = None
    """The file, where it was made."""

    def facts(self) -> Mapping[str, object]:
        """What the ledger says now."""
        return {**self.more, **super().facts()}

    def blocks(self) -> Sequence[Block]:
        """The file, for whoever goes on with it."""
        from aidos.report.page import Code

        return () if self.path is None else (Code(text=str(self.path), language="command"),)

    def remarks(self) -> Sequence[str]:
        """What was done."""
        return (self.done,)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LedgerVerified(Finding):
    """Whether a ledger is whole, and no older than its witnesses and the releases at hand."""

    about: str = "the releases of a source"
    path: Path
    value: LedgerState
    witnesses: Mapping[str, str]
    releases: Mapping[str, str]
    """What was found about each."""

    @property
    def exit_code(self) -> int:
        """1 where a release names a line that the ledger does not have."""
        return 0 if all(verdict.startswith(AGREES) for verdict in self.releases.values()) else 1

    def facts(self) -> Mapping[str, object]:
        """How long it is, and what witnesses and releases say."""
        said = {"witnesses": self.witnesses, "releases": self.releases}
        return {"lines": self.value.lines, "head": self.value.chain, **said}

    def blocks(self) -> Sequence[Block]:
        """A line for each."""
        from aidos.report.page import Prose

        witnesses = {f"witness {place}": words for place, words in self.witnesses.items()}
        lines = [f"{name}: {verdict}" for name, verdict in {**witnesses, **self.releases}.items()]
        return tuple(map(Prose, [f"{self.path} is whole: {self.value.lines} lines", *lines]))


@dataclass(frozen=True)
class _OnLedger:
    """A job on a ledger that there is."""

    file: Path
    """The ledger."""


@dataclass(frozen=True, kw_only=True)
class _OnPeople:
    """A job that looks for the same people in other ledgers."""

    disjoint: bool = False
    """Declare that nobody in these data is in those of another ledger, although names are the same."""


@dataclass(frozen=True, slots=True)
class OpenLedger(_OnPeople):
    """Open the ledger of a source of data, once.

    The source is recognised whatever its files are called, packed or not, and
    when it grows. Data or people that another of your ledgers knows are refused.
    Only you can read the file; it is never overwritten.

    For example:
        aidos ledger open log.tsv --epsilon 3 --delta 1e-5 --people 20000 -o log.ledger
        aidos ledger open log.tsv.gz --epsilon 3 --delta 1e-5 --witness /mnt/backup -o ledgers/
        aidos ledger open baskets.csv --person customer --epsilon 3 --delta 1e-5 -o b.ledger
    """

    files: tuple[str, ...]
    """All files of the source."""
    _: KW_ONLY
    epsilon: float
    """Most that all releases together may cost one person."""
    delta: float
    """Most probability with which the promise may fail, in all."""
    output: Annotated[Path, Short("-o")]
    """The file to make, or a directory, in which it gets a random name."""
    people: Annotated[int | None, Ge(1), CROWD] = None
    """How many people there are, about, if that is public: `publish` then knows whether anything will come out."""
    source: str = ""
    """What you call the data; the first file's name if unset."""
    person: str = "client_id"
    """The column that says whose row it is; every search log has client_id."""
    neighbours: Literal["add-or-remove-one", "replace-one"] = "add-or-remove-one"
    """What is protected: whether a person is in the data (add-or-remove-one), or which data she has (replace-one)."""
    accountant: Literal["best", "basic", "gaussian"] = "best"
    """How releases add up: best takes the cheapest valid total, basic adds epsilons, gaussian adds squares of noise."""
    witness: Path | None = None
    """A second place, on another disk, that shows whether the ledger is an older copy: a file or a directory."""
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> LedgerChanged:
        """Look for other ledgers of the same data or people, then make it."""
        from aidos.account.budget import Accountant, Budget
        from aidos.account.opening import open_ledger
        from aidos.core.guarantee import Neighbours, Unit
        from aidos.rooms.publish.sources import data_set, data_with_people

        check_parameters(self)
        budget = Budget(
            epsilon=self.epsilon,
            delta=self.delta,
            unit=Unit("person", self.person),
            neighbours=Neighbours(self.neighbours),
            accountant=Accountant(self.accountant),
        )
        with data_with_people(data_set(self.files, self.source), self.person, self.how, desk) as data:
            opened = open_ledger(
                self.output, budget, data, witness=self.witness, disjoint=self.disjoint, people=self.people
            )
        return LedgerChanged(
            value=opened.state(),
            done=f"opened with epsilon = {self.epsilon:g}, delta = {self.delta:g}; keep the file",
            more={"ledger": str(opened.path)},
            path=opened.path,
        )


@dataclass(frozen=True, slots=True)
class ShowLedger(_OnLedger):
    """Show what was spent, what is left and every charge.

    For example:
        aidos ledger show log.ledger
    """

    def run(self, desk: Desk) -> LedgerShown:
        """Read it."""
        from aidos.account.ledger import FileLedger

        found = FileLedger(self.file)
        try:
            found.witnessed()
        except AidosError as error:  # what the file says is shown all the same, and nothing is charged to it
            desk.remark(error.message)
        return LedgerShown(value=found.state())


@dataclass(frozen=True, slots=True)
class ExtendLedger(_OnLedger, _OnPeople):
    """Declare that files are a later state of a ledger's source.

    Later states are recognised by themselves as long as most lines are the same.
    This is for others: another format, other columns, next month's log.

    For example:
        aidos ledger extend log.ledger log.parquet
    """

    files: tuple[str, ...]
    """All files of that state."""
    _: KW_ONLY
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> LedgerChanged:
        """Remember them, unless another ledger knows them."""
        from aidos.account.ledger import FileLedger
        from aidos.account.opening import extend_ledger
        from aidos.rooms.publish.sources import data_set, data_with_people

        found = FileLedger(self.file)
        person = found.state().budget.unit.column
        with data_with_people(data_set(self.files), person, self.how, desk) as data:
            new = extend_ledger(found, data, disjoint=self.disjoint)
        done = f"{self.file} {'goes on with these data' if new else 'knows these data'}"
        return LedgerChanged(value=found.state(), done=done, more={"new": new})


@dataclass(frozen=True, slots=True)
class VerifyLedger(_OnLedger):
    """Check that a ledger is whole, and no older than its witnesses and the releases at hand.

    The exit code is 1 when a release names a line that the ledger does not have, or
    that was charged for another promise; 2 when the ledger is damaged or older than
    a witness.

    For example:
        aidos ledger verify log.ledger
        aidos ledger verify log.ledger release-1 release-2
    """

    releases: tuple[Path, ...] = ()
    """Directories of releases that were charged to it."""

    def run(self, desk: Desk) -> LedgerVerified:  # noqa: ARG002
        """Compare."""
        from aidos.account.ledger import FileLedger
        from aidos.rooms.publish.manifest import read_manifest

        found = FileLedger(self.file)
        state = found.state()
        return LedgerVerified(
            path=self.file,
            value=state,
            witnesses={place.partition(": ")[0]: place.partition(": ")[2] for place in found.witnessed()},
            releases={str(release): _verdict(state, read_manifest(release)) for release in self.releases},
        )


@dataclass(frozen=True, slots=True)
class CloseLedger(_OnLedger):
    """Close a ledger: nothing more will be released from its data.

    For example:
        aidos ledger close log.ledger
    """

    def run(self, desk: Desk) -> LedgerChanged:  # noqa: ARG002
        """Allow no more charges, for good."""
        from aidos.account.ledger import FileLedger

        found = FileLedger(self.file)
        found.close()
        return LedgerChanged(value=found.state(), done=f"{self.file} is closed")


def _verdict(state: LedgerState, manifest: Mapping[str, object]) -> str:
    """Whether a release is in the ledger, with the promise that was charged."""
    from aidos.rooms.publish.manifest import promises

    entry = manifest.get("ledger")
    if not isinstance(entry, dict) or "head" not in entry:
        return "names no line of a ledger: nothing was charged, or by an earlier version"
    if entry.get("id") != state.id:
        return "was charged to another ledger"
    line = entry.get("line", 0)
    if state.heads.get(line) != entry["head"]:
        return f"was charged in line {line}, which this copy does not have: bring back the newest copy"
    charged = next((charge.spend for charge in state.charges if charge.number == line), None)
    if charged is None or not promises(manifest, charged.guarantee):
        return f"promises something else than line {line} was charged for: ask for the release again"
    return f"{AGREES} in line {line}"


def _charge_facts(charge: Charge) -> dict[str, object]:
    from aidos.core.guarantee import statement

    return {
        "number": charge.number,
        "time": charge.time,
        "about": charge.about,
        "outcome": charge.outcome,
        "guarantee": statement(charge.spend.guarantee) if charge.spend else "cannot be read",
    }


def _tables(state: LedgerState) -> Iterator[Block]:
    from aidos.account.cost import cost
    from aidos.report.page import DataTable, Facts

    budget = state.budget
    amounts = (("budget", (budget.epsilon, budget.delta)), ("spent", state.spent()), ("left", state.left()))
    rows = [(name, f"{epsilon:.6g}", f"{delta:.6g}") for name, (epsilon, delta) in amounts]
    if budget.accountant.value != "basic" and len(state.spends) > 1:
        rows[-1] = (*rows[-1][:2], "-")  # a total at all of delta: the next is at all of it too
    yield DataTable(caption="The budget", columns=("", "epsilon", "delta"), rows=tuple(rows), titled=False)
    charges: list[tuple[str | int, ...]] = []
    for charge in state.charges:
        price = cost(charge.spend.guarantee, budget.delta) if charge.spend else None
        amounts_shown = [f"{part:.6g}" for part in price] if price else ["all that was left"] * 2
        charges.append((charge.number, charge.time, charge.about, *amounts_shown, charge.outcome))
    if charges:
        columns = ("line", "time (UTC)", "what for", "epsilon", "delta", "outcome")
        yield DataTable(caption="charges", columns=columns, rows=tuple(charges))
    yield Facts(
        (
            ("source", f"{state.source or 'not named'}, states seen: {len(state.parts)}"),
            *([("declared disjoint", f"from ledger {', '.join(state.disjoint)}")] if state.disjoint else ()),
            ("protects", f"{budget.neighbours} of one {budget.unit.noun} ({budget.unit.column})"),
            *([] if state.people is None else [("people", f"{state.people:,}")]),
            ("adds up", budget.accountant.value),
            *([("fits next", _next(state))] if state.spends and not state.closed else ()),
            ("state", "closed: no more charges" if state.closed else "open"),
        )
    )


def _next(state: LedgerState) -> str:
    """Whether one more release like the last fits, or how large a one does: costs do not simply add up."""
    last = state.spends[-1]
    try:
        state.budget.admit(state.spends, last)
    except BudgetError as refused:
        return (
            f"about epsilon = {refused.left[0]:g} of a release like the last"
            if refused.left[0]
            else "none like the last"
        )
    return "another release like the last"
