"""Opening the ledger of a source, once: other ledgers that know the same data or the same people are found first.

Looking and making happen under two locks, that of the registry and that of the directory, so that two processes cannot
open two ledgers for one source. The file appears whole.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from aidos.account.budget import Budget
from aidos.account.ledger import FileLedger, now, write_line
from aidos.account.ledgerstate import FORMAT, seal
from aidos.account.lineage import DataSet
from aidos.account.witness import Witness, held, prepare, registered, registry, witness_at
from aidos.engine.files import partial_file, publish_new
from aidos.errors import InputError, ParameterError

__all__ = ["SUFFIX", "extend_ledger", "find_ledger", "open_ledger", "recognise_data"]

SUFFIX = ".ledger"
SECONDS_TO_WAIT = 300.0
SOME_OF_THE_PEOPLE = 0.01
"""Populations that share more than this are not disjoint."""


def open_ledger(  # noqa: PLR0913 (of what, where, how much, and what its owner declares)
    place: Path,
    budget: Budget,
    data: DataSet,
    *,
    witness: Path | None = None,
    disjoint: bool = False,
    people: int | None = None,
) -> FileLedger:
    """Open the ledger of a source: the file ``place``, or a file with a random name in the directory ``place``.

    ``disjoint`` declares that nobody in these data is in those of another ledger, whatever their names say; ``people``
    is how many people there are, where that is public.
    """
    directory = place if place.is_dir() else place.parent
    if not directory.is_dir():
        raise ParameterError(f"the directory {directory} does not exist", hint=f"make it first: mkdir -p {directory}")
    key, name = secrets.token_bytes(32), secrets.token_hex(16)
    path = place / f"{name}{SUFFIX}" if place.is_dir() else place
    witnesses = [str(witness_at(witness, name))] if witness else []
    with _looking(directory):
        for taken in filter(os.path.lexists, witnesses):  # of another ledger, or the owner's: never overwritten
            raise ParameterError(f"{taken} exists", hint="name a directory, or a file that is not there yet")
        header = {
            "line": 1,
            "kind": "opened",
            "ledger": FORMAT,
            "id": name,
            "key": key.hex(),
            "source": data.name or data.paths[0].name.partition(".")[0],
            "disjoint": _refuse_known(data, directory, disjoint=disjoint),
            "witnesses": witnesses,
            "budget": asdict(budget),
            "people": people,
            "part": asdict(data.part(key)),
            "time": now(),
        }
        line, head = seal(key, "", header)
        with prepare(Witness(name, 1, head, str(path.resolve())), witnesses):
            _make(path, line)
    return FileLedger(path)


def recognise_data(ledger: FileLedger, data: DataSet) -> bool:
    """Raise InputError unless the data are a state of the ledger's source; remember a new one, and tell whether it is.

    Data that are known cost one pass over their bytes.
    """
    state = ledger.state()
    known = state.knows(data.contents)
    if known and known.spacing:
        return False
    if not ledger.recognises(data):
        raise InputError(
            f"{ledger.path} is the ledger of another data set{f' ({state.source})' if state.source else ''}",
            hint=f"name the ledger of these data; if they are a later state of the same source, declare it: "
            f"aidos ledger extend {ledger.path} FILES",
        )
    return extend_ledger(ledger, data) and known is None


def extend_ledger(ledger: FileLedger, data: DataSet, *, disjoint: bool = False) -> bool:
    """Remember a state of the ledger's data, unless another ledger knows it; tell whether it is new."""
    with _looking(ledger.path.parent):
        others = _refuse_known(data, ledger.path.parent, disjoint=disjoint, but=ledger.state().id)
        return ledger.extend(data, disjoint=tuple(others))


def find_ledger(directory: Path, data: DataSet, *, but: str = "") -> Path | None:
    """The ledger that recognises the data, in this directory or in the registry."""
    for ledger in _known_ledgers(directory):
        if ledger.state().id != but and ledger.recognises(data):
            return ledger.path
    return None


def _refuse_known(data: DataSet, directory: Path, *, disjoint: bool, but: str = "") -> list[str]:
    """Raise ParameterError if another ledger knows the data or the people; ids of those declared to be about others."""
    if known := find_ledger(directory, data, but=but):
        raise ParameterError(
            f"these data have a ledger already: {known}",
            hint=f"charge it: aidos publish --ledger {known}, or see: aidos ledger show {known}",
        )
    declared = []
    for ledger in _known_ledgers(directory):
        state = ledger.state()
        if state.id == but:
            continue
        share = max(data.shared_people(part, state.key) for part in state.parts)
        if share > SOME_OF_THE_PEOPLE and not disjoint:
            raise ParameterError(
                f"about {share:.0%} of the people are those of {ledger.path} ({state.source}), by their names",
                hint=f"if it is the same source: aidos ledger extend {ledger.path} FILES; "
                "if they are other people with the same names: --disjoint",
            )
        declared += [state.id] if share > SOME_OF_THE_PEOPLE else []
    return declared


def _known_ledgers(directory: Path) -> Iterator[FileLedger]:
    """Ledgers in the directory and in the registry that can be read."""
    paths = {path.resolve(): path for path in (*registered(), *directory.glob(f"*{SUFFIX}"))}
    for _, path in sorted(paths.items()):
        with suppress(InputError):
            yield FileLedger(path)


@contextmanager
def _looking(directory: Path) -> Iterator[None]:
    """Nobody else opens a ledger meanwhile: neither of this user, nor in this directory."""
    with ExitStack() as stack:
        for place in (registry(), directory):
            stack.enter_context(held(place, wait=SECONDS_TO_WAIT))
            if place.samefile(directory):
                break
        yield


def _make(path: Path, line: bytes) -> None:
    """The file with its first line; it appears whole or not at all, and never in place of another."""
    with partial_file(path, private=True) as beside:
        with beside.open("r+b", buffering=0) as file:
            write_line(path, file.fileno(), line)
        if not publish_new(beside, path):
            raise ParameterError(f"{path} exists", hint="choose another name; a ledger is never overwritten")
