"""From a recipe and a table to a release directory: check, charge, run, write, settle.

The order protects people first and the owner second. What cannot work is refused before anything is spent; the charge
is on disk before the mechanism meets the data; the directory appears whole; and only then is the charge remarked as
published. A crash anywhere in between leaves a charge that counts as spent, and no directory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from importlib.metadata import version
from pathlib import Path

from aidos.account.budget import Spend
from aidos.account.composition import GaussianPart
from aidos.account.ledgerfile import FileLedger, fingerprint_files
from aidos.app.recipe import Recipe
from aidos.app.release import release
from aidos.app.releasedir import new_directory, write_files, write_histogram
from aidos.core.guarantee import Guarantee, NoGuarantee, statement
from aidos.core.mechanism import PublicFacts, Release
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.errors import InputError, ParameterError
from aidos.ingest.sources import find_sources
from aidos.publish.histogram import Histogram
from aidos.publish.multi import GaussianMechanism, LogRelease
from aidos.publish.tables import TableRelease
from aidos.publish.wholelog import WholeLog
from aidos.report.page import render
from aidos.report.releasepage import letter_to_readers, release_page

__all__ = [
    "Booking",
    "ReleasedLog",
    "check_people",
    "describe_guarantee",
    "publish_table",
    "usable_ledger",
    "write_release",
]

ReleasedLog = Release[dict[str, Histogram]]


@dataclass(slots=True)
class Booking:
    """A charge to a ledger file that is settled when the directory stands."""

    ledger: FileLedger
    gaussian: GaussianPart | None = None
    about: str = ""
    number: int = 0

    def charge(self, guarantee: Guarantee) -> None:
        """Book it, and keep the number for settling."""
        self.number = self.ledger.book(guarantee, gaussian=self.gaussian, about=self.about)

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        return self.ledger.spent()

    def settle(self) -> None:
        """The release is out."""
        self.ledger.settle(self.number, "published")


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
    ledger = FileLedger(path, fingerprint=fingerprint_files([source.path for source in find_sources(files)[0]]))
    state = ledger.state()
    state.budget.admit(state.spends, Spend(guarantee, _gaussian_part(mechanism)))
    return ledger


def check_people(
    table: Table, person: str, delta: float, *, accept_large_delta: bool, stated: int | None = None
) -> None:
    """Refuse data that no guarantee makes sense for: one person, more than stated, or a delta that lets one out."""
    if person not in table.columns:
        raise InputError(f"the data have no column {person}", hint="name the person's column with --column or --person")
    people = int(str(table.rows(f'select count(distinct "{person}") from {{table}}')[0][0]))
    if people < 2:
        raise InputError(f"the data are about {people} person: nobody can hide alone", hint="use data of more people")
    if stated is not None and people > stated:
        raise InputError(
            f"the data are about more than {stated:,} people, the number that was given as public",
            hint="give the right number with --people, if that is public",
        )
    if delta > 1 / people and not accept_large_delta:
        raise ParameterError(
            f"delta = {delta:g} is more than one in the number of people: it would allow publishing somebody outright",
            hint="choose a smaller --delta, or add --accept-large-delta if that is meant",
        )


def publish_table(
    recipe: Recipe, table: Table, target: Path, *, ledger: FileLedger | None, noise: Noise, facts: PublicFacts
) -> ReleasedLog:
    """Make the release and write its directory; the charge is settled last."""
    mechanism = recipe.build()
    booking = None if ledger is None else Booking(ledger, _gaussian_part(mechanism), about=target.name)
    with new_directory(target) as directory:
        made: ReleasedLog = release(mechanism, table, ledger=booking, noise=noise, facts=facts)
        write_release(made, recipe, directory, facts)
    if booking is not None:
        booking.settle()
    return made


def _gaussian_part(mechanism: LogRelease | TableRelease | WholeLog) -> GaussianPart | None:
    """The Gaussian part of a release of one kind, for ledgers that add up Gaussian noise by squares."""
    parts = [part for _, part in mechanism.parts()] if isinstance(mechanism, LogRelease) else [mechanism.mechanism]
    return parts[0].gaussian_part() if len(parts) == 1 and isinstance(parts[0], GaussianMechanism) else None


def write_release(made: ReleasedLog, recipe: Recipe, directory: Path, facts: PublicFacts) -> None:
    """Fill a directory: tables, page, letter, manifest."""
    for kind, histogram in made.value.items():
        write_histogram(directory, kind, histogram.table)
    manifest = _manifest(made, recipe, facts)
    page = release_page(made, recipe.to_toml(), _calibration(made, facts))
    write_files(directory, manifest, page=render(page), letter=letter_to_readers(made))


def _manifest(made: ReleasedLog, recipe: Recipe, facts: PublicFacts) -> dict[str, object]:
    # A part promises nothing when the whole does not.
    promised = not isinstance(made.guarantee, NoGuarantee)
    parts = made.mechanism.parts() if isinstance(made.mechanism, LogRelease) and promised else ()
    return {
        "aidos": version("aidos"),
        "guarantee": describe_guarantee(made.guarantee),
        "statement": statement(made.guarantee),
        "noise": made.noise_source,
        "composition": [
            {"items": kind, "guarantee": describe_guarantee(part.guarantee(facts))} for kind, part in parts
        ],
        "calibration": _calibration(made, facts),
        "recipe": recipe.to_toml(),
        "not_said": "How much was dropped is not told: those numbers come from the data and carry no noise.",
    }


def _calibration(made: ReleasedLog, facts: PublicFacts) -> Mapping[str, float]:
    mechanism = made.mechanism
    return mechanism.calibration(facts) if isinstance(mechanism, LogRelease | TableRelease | WholeLog) else {}


def describe_guarantee(guarantee: Guarantee) -> dict[str, object]:
    """A guarantee in values that JSON knows, with its kind."""
    values = asdict(guarantee) if is_dataclass(guarantee) else {}
    return {"kind": type(guarantee).__name__, **values}
