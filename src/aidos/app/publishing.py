"""From a recipe and a table to a release directory: check, rehearse, charge, run, write, settle.

The order protects people first and the owner second. What cannot work is refused before anything is spent; the charge
is on disk before the mechanism meets the data; the directory appears whole; and only then is the charge remarked as
published. A crash anywhere in between leaves a charge that counts as spent, and no directory.

Whether a release fails must not tell anything about people. So no check looks at rows: those before the charge use
public numbers and names of columns, and after it nothing is checked. What can fail for reasons that lie in the data is
a machine that runs out of memory or disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aidos.account.budget import Spend
from aidos.account.composition import GaussianPart
from aidos.account.ledger import Charged, FileLedger
from aidos.account.opening import recognise_data
from aidos.app.console import tell
from aidos.app.lineage import data_set
from aidos.app.recipe import Recipe
from aidos.app.release import release
from aidos.app.stopwatch import NOISE, REHEARSING, WRITING, Stopwatch
from aidos.app.writing import ReleasedLog, rehearse, write_or_rescue
from aidos.core.guarantee import Guarantee
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.errors import AidosError, EngineError, ParameterError
from aidos.rooms.publish.multi import LogRelease
from aidos.rooms.publish.tables import TableRelease
from aidos.rooms.publish.wholelog import WholeLog

__all__ = ["Booking", "ReleasedLog", "check_delta", "check_finding", "publish_table", "usable_ledger"]

LARGEST_DELTA = 1e-5
"""Without a public number of people: one in a hundred thousand, which most logs that are worth publishing have."""

NOT_YET = Charged(ledger="", number=0, head="")


@dataclass(slots=True)
class Booking:
    """A charge to a ledger file that is settled when the directory stands."""

    ledger: FileLedger
    gaussian: GaussianPart | None = None
    about: str = ""
    charged: Charged = NOT_YET

    def charge(self, guarantee: Guarantee) -> None:
        """Book it, and keep its number for settling."""
        self.charged = self.ledger.book(guarantee, gaussian=self.gaussian, about=self.about)

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        return self.ledger.spent()

    def settle(self, outcome: str) -> None:
        """Remark that the release is out ("published") or lost ("abandoned")."""
        self.ledger.settle(self.charged.number, outcome)

    def entry(self) -> dict[str, object]:
        """For the manifest: where the release was charged, so that an older copy of the ledger is found out."""
        return {"id": self.charged.ledger, "line": self.charged.number, "head": self.charged.head}


def usable_ledger(
    path: Path | None,
    files: Sequence[str],
    guarantee: Guarantee,
    mechanism: LogRelease | TableRelease | WholeLog,
    *,
    may_be_missing: bool,
) -> FileLedger | None:
    """The ledger of these files, with room for the guarantee: asked before the data are read."""
    if path is None:
        if may_be_missing:
            return None
        named = " ".join(files)
        raise ParameterError(
            "no ledger was named, and without one nothing bounds what was released before",
            hint=f"aidos ledger open {named} --epsilon 1 --delta 1e-6 -o FILE; for synthetic data: --without-ledger",
        )
    ledger = FileLedger(path)
    ledger.witnessed()
    state = ledger.state()
    state.budget.admit(state.spends, Spend(guarantee, _gaussian_part(mechanism)))
    if recognise_data(ledger, data_set(files)):
        tell(f"the data have changed since the last release and are mostly the same: {path} goes on")
    return ledger


def check_delta(guarantee: Guarantee, facts: PublicFacts, *, accept_large_delta: bool) -> None:
    """Refuse a delta that would let somebody out, by public numbers alone: nobody is counted before the charge.

    With a public number of people, delta may be one in it. Without one it may be `LARGEST_DELTA`.
    """
    delta = float(getattr(guarantee, "delta", 0.0))
    most = LARGEST_DELTA if facts.people is None else 1 / facts.people
    if delta <= most or accept_large_delta:
        return
    reason = f"more than {LARGEST_DELTA:g}" if facts.people is None else f"more than one in {facts.people:,} people"
    stated = "say with --people how many people there are, if that is public, or " if facts.people is None else ""
    raise ParameterError(
        f"delta = {delta:g} is {reason}: it would allow publishing somebody outright",
        hint=f"choose a smaller --delta; {stated}add --accept-large-delta if that is meant",
    )


def check_finding(path: Path | None, output: Path) -> None:
    """Refuse a place for the finding that cannot be written, or that would be handed over with the release."""
    if path is None:
        return
    parent = path.resolve().parent
    if path.is_dir() or not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise ParameterError(f"{path} cannot be written", hint="name a file in a directory of yours with --finding")
    if output.resolve() in path.resolve().parents:
        raise ParameterError(f"{path} is inside the release", hint="a finding holds the truth: put it elsewhere")


def publish_table(
    recipe: Recipe,
    table: Table,
    target: Path,
    *,
    ledger: FileLedger | None,
    noise: Noise,
    facts: PublicFacts,
    watch: Stopwatch | None = None,
) -> ReleasedLog:
    """Make the release and write its directory; the charge is settled last."""
    watch = watch or Stopwatch()
    with watch.phase(REHEARSING):
        rehearse(recipe, table, target, facts)
    mechanism = recipe.build()
    booking = None if ledger is None else Booking(ledger, _gaussian_part(mechanism), about=target.name)
    with watch.phase(NOISE):
        made: ReleasedLog = release(mechanism, table, ledger=booking, noise=noise, facts=facts)
    with watch.phase(WRITING):
        _write(made, recipe, target, facts, booking)
    return made


def _write(made: ReleasedLog, recipe: Recipe, target: Path, facts: PublicFacts, booking: Booking | None) -> None:
    """Write and settle; a release that stands elsewhere than asked is an error that says where."""
    try:
        place = write_or_rescue(made, recipe, target, facts, None if booking is None else booking.entry())
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


def _gaussian_part(mechanism: LogRelease | TableRelease | WholeLog) -> GaussianPart | None:
    """What ledgers add up by squares, where the noise of a release is Gaussian."""
    return None if isinstance(mechanism, WholeLog) else mechanism.gaussian_part()
