"""The jobs about the accounts themselves: show a store, write its accounts, make a store of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge

from aidos.core.limits import ROWS
from aidos.jobs.answer import Finding, facts_block
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section, Short
from aidos.rooms.fairness.equity import Attending

if TYPE_CHECKING:
    from aidos.report.page import Block

__all__ = ["AccountsMoved", "ExportAccounts", "ImportAccounts", "ShowStore", "StoreShown"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class StoreShown(Finding):
    """What a store holds."""

    about: str = "the ranked subjects"
    held: Mapping[str, object]
    settings: Mapping[str, object]

    def facts(self) -> Mapping[str, object]:
        """Settings, accounts, rankings, unfairness."""
        return {**self.held, "settings": self.settings}

    def blocks(self) -> tuple[Block, ...]:
        """For people the settings are facts like any other."""
        return (facts_block({**self.settings, **self.held}),)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AccountsMoved(Finding):
    """How many accounts were written where."""

    about: str = "the ranked subjects"
    kind: str
    """What was written: the output, or the store."""
    place: Path
    accounts: int

    def facts(self) -> Mapping[str, object]:
        """Where, and how many."""
        return {self.kind: str(self.place), "accounts": self.accounts}


@dataclass(frozen=True)
class _OnStore:
    """A job on a store that there is."""

    path: Path
    """The store."""


@dataclass(frozen=True, slots=True)
class ShowStore(_OnStore):
    """Show what a store holds: settings, accounts, rankings, unfairness.

    For example:
        aidos fair store attention.store
        aidos fair store attention.store --json
    """

    def run(self, desk: Desk) -> StoreShown:  # noqa: ARG002 (nothing to work with)
        """Look."""
        from aidos.rooms.fairness.keeper import store_facts

        facts = store_facts(self.path)
        return StoreShown(settings=facts.pop("settings"), held=facts)


@dataclass(frozen=True, slots=True)
class ExportAccounts(_OnStore):
    """Write the accounts of a store to a Parquet or DuckDB file.

    For example:
        aidos fair export attention.store -o accounts.parquet
        aidos fair export attention.store -o accounts.duckdb
    """

    _: KW_ONLY
    output: Annotated[Path, Short("-o")]
    """The file to write: .parquet or .duckdb."""

    def run(self, desk: Desk) -> AccountsMoved:  # noqa: ARG002
        """Write them."""
        from aidos.rooms.fairness.exchange import export_accounts

        return AccountsMoved(kind="output", place=self.output, accounts=export_accounts(self.path, self.output))


@dataclass(frozen=True, slots=True)
class ImportAccounts:
    """Make a new store from a table of accounts: subject_id, attention, relevance.

    A file that `aidos fair export` wrote brings its settings along; for any
    other, say which attention model the numbers were counted with.

    For example:
        aidos fair import accounts.parquet --store attention.store
        aidos fair import accounts.csv --store attention.store --attention singular --rankings 5000
    """

    source: Path
    """A Parquet, DuckDB or CSV file."""
    _: KW_ONLY
    store: Path
    """The store to make."""
    rankings: Annotated[int | None, Ge(0), ROWS] = None
    """How many rankings the numbers come from; if unset what the file says, or 0."""
    attending: Annotated[Attending | None, Section("Attention and quality")] = None

    def run(self, desk: Desk) -> AccountsMoved:  # noqa: ARG002
        """Make it."""
        from aidos.rooms.fairness.exchange import import_accounts
        from aidos.rooms.fairness.keeper import store_settings

        attending = self.attending
        number = import_accounts(
            self.store,
            self.source,
            settings=None if attending is None else store_settings(attending),
            half_life=None if attending is None else attending.half_life,
            rankings=self.rankings,
        )
        return AccountsMoved(kind="store", place=self.store, accounts=number)
