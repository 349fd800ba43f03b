"""What shows that a ledger is not an older copy of itself: its last line, noted outside of the file.

A witness is a small file with the number and the hash of the ledger's last line. One is in the registry, a directory of
the user's own that also tells where ledgers are; the owner may name another place, on another disk. Witnesses are
prepared before a line is written, and take effect after it is on disk. So a full disk is noticed before anything is
charged, and a crash in between leaves a witness that is behind: that is fine, and the next charge mends it. A ledger
that is behind its witness was restored from an older copy, or cut: it is refused.

A witness that is missing shows nothing: ledgers may move to another machine. Whoever restores ledger and witness
together is not noticed, unless a release is at hand whose manifest names a later line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from aidos.core.jsontext import parse_json
from aidos.engine.files import make_directories, replace_when_done
from aidos.engine.inputs import read_bytes
from aidos.engine.store import append, lock
from aidos.errors import AidosError, EngineError, InputError

__all__ = [
    "Witness",
    "held",
    "prepare",
    "read_witness",
    "refuse_older",
    "registered",
    "registry",
    "registry_in",
    "witness_at",
]

ENVIRONMENT = "AIDOS_REGISTRY"
SUFFIX = ".witness"


@dataclass(frozen=True, slots=True)
class Witness:
    """The last line of a ledger, when it was last written to."""

    ledger: str
    """The ledger's id."""
    line: int
    head: str
    """The hash of that line and, through it, of all lines before."""
    path: str
    """Where the ledger was."""


def registry() -> Path:
    """The directory of witnesses, made if need be: $AIDOS_REGISTRY, or one among the user's own data."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    place = Path(os.environ.get(ENVIRONMENT) or Path(data) / "aidos" / "ledgers")
    try:
        make_directories(place, private=True)
    except AidosError as error:
        raise EngineError(
            f"the registry of ledgers cannot be made: {error}",
            hint=f"set {ENVIRONMENT} to a directory of your own, and keep it",
        ) from error
    return place


@contextmanager
def registry_in(place: Path) -> Iterator[None]:
    """Another registry meanwhile, for ledgers of synthetic data that are made again and again."""
    before = os.environ.get(ENVIRONMENT)
    os.environ[ENVIRONMENT] = str(place)
    try:
        yield
    finally:
        os.environ.pop(ENVIRONMENT)
        os.environ.update({ENVIRONMENT: before} if before is not None else {})


def registered() -> list[Path]:
    """Where ledgers are, as far as witnesses tell."""
    found = []
    for path in sorted(registry().glob(f"*{SUFFIX}")):
        with suppress(InputError):
            witness = read_witness(path)
            found += [Path(witness.path)] if witness and Path(witness.path).is_file() else []
    return found


def witness_at(place: Path, ledger: str) -> Path:
    """The file of a witness in a directory, or the file itself."""
    return place.resolve() / f"{ledger}{SUFFIX}" if place.is_dir() else place.resolve()


def read_witness(path: Path) -> Witness | None:
    """The witness, or None where there is none."""
    if not os.path.lexists(path):
        return None
    try:
        return Witness(**parse_json(read_bytes(path)))
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{path} is no witness of a ledger, or it is damaged", hint="remove it if that is known"
        ) from error


def refuse_older(path: Path, ledger: str, heads: Mapping[int, str], others: Sequence[str]) -> list[str]:
    """Raise InputError if the ledger is older than a witness, or another history; tell what each of them says."""
    said = []
    for place in (witness_at(registry(), ledger), *map(Path, others)):
        witness = read_witness(place)
        if witness is None and str(place) in others:
            raise InputError(f"the witness {place} of {path} is not there", hint="bring back its disk or directory")
        if witness is None:
            said.append(f"{place}: none")
        elif witness.ledger != ledger:
            raise InputError(
                f"the witness {place} of {path} is of another ledger", hint="bring back the newest one of this ledger"
            )
        elif heads.get(witness.line) != witness.head:
            last = max(heads)
            older = f"it ends at line {last}, and line {witness.line} was written" if witness.line > last else ""
            raise InputError(
                f"{path} is an older copy of the ledger, or another history: "
                f"{older or f'line {witness.line} is not the one that was written'} (witness: {place})",
                hint="bring back the newest copy: what was charged since cannot be told without it, "
                "and nothing more may be released",
            )
        else:
            said.append(f"{place}: agrees up to line {witness.line}")
    return said


@contextmanager
def prepare(witness: Witness, others: Sequence[str]) -> Iterator[None]:
    """Write witnesses beside the old ones; they take their places if nothing is raised within."""
    with ExitStack() as stack:
        try:
            for place in (witness_at(registry(), witness.ledger), *map(Path, others)):
                beside = stack.enter_context(replace_when_done(place, private=True))
                # Flushed now, so that a full disk is noticed before anything is charged.
                with beside.open("r+b", buffering=0) as file:
                    append(file.fileno(), json.dumps(asdict(witness)).encode() + b"\n")
        except (OSError, AidosError) as error:
            raise EngineError(
                f"a witness of {witness.path} cannot be written: {_reason(error)}",
                hint="make room, or bring its disk back",
            ) from error
        yield


def _reason(error: OSError | AidosError) -> str:
    return str(error.strerror) if isinstance(error, OSError) else error.message


@contextmanager
def held(path: Path, flags: int = os.O_RDONLY, *, alone: bool = True, wait: float) -> Iterator[int]:
    """A file or directory, opened and locked, or EngineError after ``wait`` seconds."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        busy, hint = "{path} is locked by another process", "wait until the other release is done"
        lock(path, descriptor, alone=alone, wait=wait, busy=busy, hint=hint)
        yield descriptor
    finally:
        os.close(descriptor)
