"""`aidos fair store`, `export` and `import`: the accounts themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from aidos.app.commands.fair.telling import tell_facts
from aidos.app.console import Common
from aidos.app.fairterms import Attending

__all__ = ["export", "import_table", "store"]


def store(path: Path, /, *, common: Common | None = None) -> int:
    """Show what a store holds: settings, accounts, rankings, unfairness.

    For example:
        aidos fair store attention.store
        aidos fair store attention.store --json
    """
    from aidos.fairness.storage.keeper import store_facts

    common, facts = common or Common(), store_facts(path)
    # For people the settings are facts like any other.
    return tell_facts(facts if common.json else {**facts.pop("settings"), **facts}, common)


def export(
    path: Path, /, *, output: Annotated[Path, Parameter(name=["--output", "-o"])], common: Common | None = None
) -> int:
    """Write the accounts of a store to a Parquet or DuckDB file.

    For example:
        aidos fair export attention.store -o accounts.parquet
        aidos fair export attention.store -o accounts.duckdb

    Parameters
    ----------
    path
        The store.
    output
        The file to write: .parquet or .duckdb.
    """
    from aidos.fairness.storage.exchange import export_accounts

    number = export_accounts(path, output)
    return tell_facts({"output": str(output), "accounts": number}, common or Common())


def import_table(
    source: Path,
    /,
    *,
    store: Path,
    rankings: int | None = None,
    attending: Attending | None = None,
    common: Common | None = None,
) -> int:
    """Make a new store from a table of accounts: subject_id, attention, relevance.

    A file that `aidos fair export` wrote brings its settings along; for any
    other, say which attention model the numbers were counted with.

    For example:
        aidos fair import accounts.parquet --store attention.store
        aidos fair import accounts.csv --store attention.store --attention singular --rankings 5000

    Parameters
    ----------
    source
        A Parquet, DuckDB or CSV file.
    store
        The store to make.
    rankings
        How many rankings the numbers come from; 0 unless the file says it.
    """
    from aidos.fairness.storage.binding import store_settings
    from aidos.fairness.storage.exchange import import_accounts

    attending = attending or Attending()
    settings = store_settings(attending.equity()) if attending.given() else None
    number = import_accounts(store, source, settings=settings, half_life=attending.half_life, rankings=rankings)
    return tell_facts({"store": str(store), "accounts": number}, common or Common())
