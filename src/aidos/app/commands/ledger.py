"""`aidos ledger`: open, show, extend, verify and close the privacy budget of a source of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from aidos.app.console import Common, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.errors import AidosError, BudgetError, ParameterError

if TYPE_CHECKING:
    from aidos.account.ledgerstate import LedgerState

__all__ = ["PARTS", "close_ledger", "extend_source", "ledger", "open_budget", "show_ledger", "verify_ledger"]


def ledger() -> int:
    """Keep the privacy budget of a source of data: one file that every release is charged to.

    For example:
        aidos ledger open log.tsv --epsilon 3 --delta 1e-5 -o log.ledger
        aidos ledger show log.ledger
        aidos ledger verify log.ledger release
        aidos ledger close log.ledger
    """
    raise ParameterError(
        "what to do with the ledger is missing: open, show, extend, verify or close", hint="see: aidos ledger --help"
    )


def open_budget(
    files: Sequence[str],
    /,
    *,
    epsilon: float,
    delta: float,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    source: str = "",
    person: str = "client_id",
    neighbours: Literal["add-or-remove-one", "replace-one"] = "add-or-remove-one",
    accountant: Literal["best", "basic", "gaussian"] = "best",
    witness: Path | None = None,
    disjoint: bool = False,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Open the ledger of a source of data, once.

    The source is recognised whatever its files are called, packed or not, and
    when it grows. Data or people that another of your ledgers knows are refused.
    Only you can read the file; it is never overwritten.

    For example:
        aidos ledger open log.tsv --epsilon 3 --delta 1e-5 -o log.ledger
        aidos ledger open log.tsv.gz --epsilon 3 --delta 1e-5 --witness /mnt/backup -o ledgers/
        aidos ledger open baskets.csv --person customer --epsilon 3 --delta 1e-5 -o b.ledger

    Parameters
    ----------
    files
        All files of the source.
    epsilon
        Most that all releases together may cost one person.
    delta
        Most probability with which the promise may fail, in all.
    output
        The file to make, or a directory, in which it gets a random name.
    source
        What you call the data; the first file's name unless given.
    person
        The column that says whose row it is; client_id, that of every search log, unless given.
    neighbours
        What is protected: whether a person is in the data (add-or-remove-one), or which data she has (replace-one).
    accountant
        How releases add up: best takes the cheapest valid total, basic adds epsilons, gaussian adds squares of noise.
    witness
        A second place, on another disk, that shows whether the ledger is an older copy: a file or a directory.
    disjoint
        Declare that nobody in these data is in those of another ledger, although names are the same.
    """
    from aidos.account.budget import Accountant, Budget
    from aidos.account.opening import open_ledger
    from aidos.app.lineage import data_set, data_with_people
    from aidos.core.guarantee import Neighbours, Unit

    common = common or Common()
    budget = Budget(
        epsilon=epsilon,
        delta=delta,
        unit=Unit("person", person),
        neighbours=Neighbours(neighbours),
        accountant=Accountant(accountant),
    )
    with data_with_people(data_set(files, source), person, how or HowToRead(), common) as data:
        opened = open_ledger(output, budget, data, witness=witness, disjoint=disjoint)
    if common.json:
        show_json({"ledger": str(opened.path), **_facts(opened.state())})
    else:
        print(opened.path)
        tell(f"opened with epsilon = {epsilon:g}, delta = {delta:g}; keep the file", quiet=common.quiet)
    return 0


def extend_source(
    file: Path,
    files: Sequence[str],
    /,
    *,
    disjoint: bool = False,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Declare that files are a later state of a ledger's source.

    Later states are recognised by themselves as long as most lines are the same.
    This is for others: another format, other columns, next month's log.

    For example:
        aidos ledger extend log.ledger log.parquet

    Parameters
    ----------
    file
        The ledger.
    files
        All files of that state.
    disjoint
        Declare that nobody in these data is in those of another ledger, although names are the same.
    """
    from aidos.account.ledger import FileLedger
    from aidos.account.opening import extend_ledger
    from aidos.app.lineage import data_set, data_with_people

    common = common or Common()
    found = FileLedger(file)
    person = found.state().budget.unit.column
    with data_with_people(data_set(files), person, how or HowToRead(), common) as data:
        new = extend_ledger(found, data, disjoint=disjoint)
    if common.json:
        show_json({"new": new, **_facts(found.state())})
    else:
        tell(f"{file} {'goes on with these data' if new else 'knows these data'}", quiet=common.quiet)
    return 0


def verify_ledger(file: Path, releases: Sequence[Path] = (), /, *, common: Common | None = None) -> int:
    """Check that a ledger is whole, and no older than its witnesses and the releases at hand.

    The exit code is 1 when a release names a line that the ledger does not have,
    2 when the ledger is damaged or older than a witness.

    For example:
        aidos ledger verify log.ledger
        aidos ledger verify log.ledger release-1 release-2

    Parameters
    ----------
    file
        The ledger.
    releases
        Directories of releases that were charged to it.
    """
    from aidos.account.ledger import FileLedger
    from aidos.app.releasedir import read_manifest

    common = common or Common()
    found = FileLedger(file)
    state = found.state()
    said = {place.partition(": ")[0]: place.partition(": ")[2] for place in found.witnessed()}
    verdicts = {str(release): _verdict(state, read_manifest(release)) for release in releases}
    if common.json:
        show_json({"lines": state.lines, "head": state.chain, "witnesses": said, "releases": verdicts})
    else:
        show(f"{file} is whole: {state.lines} lines")
        for name, verdict in {**{f"witness {place}": words for place, words in said.items()}, **verdicts}.items():
            show(f"{name}: {verdict}")
    return 0 if all(verdict.startswith(AGREES) for verdict in verdicts.values()) else 1


AGREES = "is charged"


def _verdict(state: LedgerState, manifest: Mapping[str, object]) -> str:
    """Whether a release is in the ledger."""
    entry = manifest.get("ledger")
    if not isinstance(entry, dict) or "head" not in entry:
        return "names no line of a ledger: nothing was charged, or by an earlier version"
    if entry.get("id") != state.id:
        return "was charged to another ledger"
    if state.heads.get(entry.get("line", 0)) == entry["head"]:
        return f"{AGREES} in line {entry['line']}"
    return f"was charged in line {entry.get('line')}, which this copy does not have: bring back the newest copy"


def show_ledger(file: Path, /, *, common: Common | None = None) -> int:
    """Show what was spent, what is left and every charge.

    For example:
        aidos ledger show log.ledger

    Parameters
    ----------
    file
        The ledger.
    """
    from aidos.account.ledger import FileLedger

    common = common or Common()
    found = FileLedger(file)
    state = found.state()
    if common.json:
        show_json(_facts(state))
    else:
        _show_tables(state)
    try:
        found.witnessed()
    except AidosError as error:  # what the file says is shown all the same, and nothing is charged to it
        tell(error.message, quiet=common.quiet)
    return 0


def close_ledger(file: Path, /, *, common: Common | None = None) -> int:
    """Close a ledger: nothing more will be released from its data.

    For example:
        aidos ledger close log.ledger

    Parameters
    ----------
    file
        The ledger.
    """
    from aidos.account.ledger import FileLedger

    common = common or Common()
    found = FileLedger(file)
    found.close()
    if common.json:
        show_json(_facts(found.state()))
    else:
        tell(f"{file} is closed", quiet=common.quiet)
    return 0


def _facts(state: LedgerState) -> dict[str, object]:
    from aidos.core.guarantee import statement

    budget, spent, left = state.budget, state.spent(), state.left()
    return {
        "id": state.id,
        "source": state.source,
        "states": len(state.parts),
        "declared_disjoint": list(state.disjoint),
        "opened": state.opened,
        "closed": state.closed,
        "neighbours": budget.neighbours.value,
        "unit": budget.unit.noun,
        "accountant": budget.accountant.value,
        "budget": {"epsilon": budget.epsilon, "delta": budget.delta},
        "spent": {"epsilon": spent[0], "delta": spent[1]},
        "left": {"epsilon": left[0], "delta": left[1]},
        "charges": [
            {
                "number": charge.number,
                "time": charge.time,
                "about": charge.about,
                "outcome": charge.outcome,
                "guarantee": statement(charge.spend.guarantee) if charge.spend else "cannot be read",
            }
            for charge in state.charges
        ],
    }


def _show_tables(state: LedgerState) -> None:
    from aidos.account.cost import cost
    from aidos.report.terminal import facts_table, rows_table

    budget = state.budget
    amounts = (("budget", (budget.epsilon, budget.delta)), ("spent", state.spent()), ("left", state.left()))
    rows = [(name, f"{epsilon:.6g}", f"{delta:.6g}") for name, (epsilon, delta) in amounts]
    if budget.accountant.value != "basic" and len(state.spends) > 1:
        rows[-1] = (*rows[-1][:2], "-")  # a total at all of delta: the next is at all of it too
    show(rows_table(("", "epsilon", "delta"), rows))
    charges: list[tuple[str | int, ...]] = []
    for charge in state.charges:
        price = cost(charge.spend.guarantee, budget.delta) if charge.spend else None
        amounts_shown = [f"{part:.6g}" for part in price] if price else ["all that was left"] * 2
        charges.append((charge.number, charge.time, charge.about, *amounts_shown, charge.outcome))
    if charges:
        show(rows_table(("line", "time (UTC)", "what for", "epsilon", "delta", "outcome"), charges, title="charges"))
    protects = f"{budget.neighbours} of one {budget.unit.noun} ({budget.unit.column})"
    state_words = "closed: no more charges" if state.closed else "open"
    fits = [("fits next", _next(state))] if state.spends and not state.closed else []
    declared = [("declared disjoint", f"from ledger {', '.join(state.disjoint)}")] if state.disjoint else []
    show(
        facts_table(
            [
                ("source", f"{state.source or 'not named'}, states seen: {len(state.parts)}"),
                *declared,
                ("protects", protects),
                ("adds up", budget.accountant.value),
                *fits,
                ("state", state_words),
            ]
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


PARTS = {
    "open": open_budget,
    "show": show_ledger,
    "extend": extend_source,
    "verify": verify_ledger,
    "close": close_ledger,
}
