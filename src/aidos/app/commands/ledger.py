"""`aidos ledger`: open, show and close the privacy budget of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from aidos.app.console import Common, show, show_json, tell
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.account.ledgerstate import LedgerState

__all__ = ["PARTS", "close_ledger", "ledger", "open_budget", "show_ledger"]


def ledger() -> int:
    """Keep the privacy budget of a data set: one file that every release is charged to.

    For example:
        aidos ledger open log.tsv --epsilon 3 --delta 1e-6 -o ledgers/
        aidos ledger show ledgers/6f2c....ledger
        aidos ledger close ledgers/6f2c....ledger
    """
    raise ParameterError("what to do with the ledger is missing: open, show or close", hint="see: aidos ledger --help")


def open_budget(
    files: Sequence[Path],
    /,
    *,
    epsilon: float,
    delta: float,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    person: str = "client_id",
    neighbours: Literal["add-or-remove-one", "replace-one"] = "add-or-remove-one",
    accountant: Literal["basic", "gaussian"] = "basic",
    common: Common | None = None,
) -> int:
    """Open the ledger of a data set, once.

    The data set is recognised by its bytes, not by its name. In a directory the
    file is named by a keyed hash, so that its name tells nothing. Only you can
    read it; it is never overwritten.

    For example:
        aidos ledger open log.tsv --epsilon 3 --delta 1e-6 -o ledgers/
        aidos ledger open log.tsv --epsilon 3 --delta 1e-6 --accountant gaussian -o log.ledger
        aidos ledger open baskets.csv --person customer --epsilon 3 --delta 1e-6 -o b.ledger

    Parameters
    ----------
    files
        All files of the data set, as they will be released from.
    epsilon
        Most that all releases together may cost one person.
    delta
        Most probability with which the promise may fail, in all.
    output
        A directory, or the file to make.
    person
        The column that says whose row it is; client_id, that of every search log, unless given.
    neighbours
        What is protected: whether a person is in the data (add-or-remove-one), or which data she has (replace-one).
    accountant
        How releases add up: basic adds epsilons; gaussian adds squares where noise is Gaussian.
    """
    from aidos.account.budget import Accountant, Budget
    from aidos.account.ledgerfile import fingerprint_files, open_ledger
    from aidos.core.guarantee import Neighbours, Unit

    common = common or Common()
    budget = Budget(
        epsilon=epsilon,
        delta=delta,
        unit=Unit("person", person),
        neighbours=Neighbours(neighbours),
        accountant=Accountant(accountant),
    )
    opened = open_ledger(output, budget, fingerprint=fingerprint_files(files))
    if common.json:
        show_json({"ledger": str(opened.path), **_facts(opened.state())})
    else:
        print(opened.path)
        tell(f"opened with epsilon = {epsilon:g}, delta = {delta:g}; keep the file", quiet=common.quiet)
    return 0


def show_ledger(file: Path, /, *, common: Common | None = None) -> int:
    """Show what was spent, what is left and every charge.

    For example:
        aidos ledger show log.ledger

    Parameters
    ----------
    file
        The ledger.
    """
    from aidos.account.ledgerfile import FileLedger

    common = common or Common()
    state = FileLedger(file).state()
    if common.json:
        show_json(_facts(state))
    else:
        _show_tables(state)
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
    from aidos.account.ledgerfile import FileLedger

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
    show(facts_table([("protects", protects), ("adds up", budget.accountant.value), ("state", state_words)]))


PARTS = {"open": open_budget, "show": show_ledger, "close": close_ledger}
