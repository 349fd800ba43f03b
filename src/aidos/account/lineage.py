"""Which data a ledger is about, and how their later states are recognised.

Of each state a ledger keeps three keyed hashes: one of the contents, whatever their names, order and compression; those
of some lines, chosen by what they say and not by where they stand; and those of some people. Contents that are known
need one pass of SHA-256. Others are the same source if most of the known lines are among theirs, or most of theirs are
known: the log grew, lost rows, was cut, joined or sorted anew. People are compared when a ledger is opened, since that
needs a reader: the same people in another format, with other columns, or in another month.

The key is in the ledger. Whoever can read it can test whether a line or a person was in the data, by trying: it belongs
to the data's owner, like the data. What is not recognised: lines that were all rewritten, until a ledger is opened for
them; people under other names; people who came with a later state that was never declared with `aidos ledger extend`.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np

from aidos.core.table import Table
from aidos.engine.inputs import open_input
from aidos.errors import InputError

__all__ = ["DataSet", "Part", "fingerprint_files", "keyed", "overlap"]

KEPT = 1024
"""Hashes that are kept of lines and of people: the smallest."""
LONGEST_SAMPLE = 4 * KEPT
FEWEST_LINES = 2
"""Lines in common that tell anything: logs of one format share their line of names."""
BLOCK = 1 << 23
MIXERS = tuple(np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
LOW_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)


def _open_as_it_is(path: Path) -> IO[bytes]:
    """The bytes of the file."""
    return open_input(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a ledger keeps of one state of its data; all hashes are keyed."""

    data: str
    """Of the contents."""
    spacing: int = 0
    """One line in so many was looked at; 0 where none was."""
    lines: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSet:
    """Files, how to read their contents, and who is in them."""

    paths: tuple[Path, ...]
    name: str = ""
    """What their owner calls the source; the first file's name, unless given."""
    opening: Callable[[Path], AbstractContextManager[IO[bytes]]] = _open_as_it_is
    """Gives the contents, decompressed."""
    table: Table | None = None
    """What was read of them, where people are to be compared."""
    person: str = ""
    """The table's column of people."""

    @cached_property
    def contents(self) -> str:
        """A fingerprint of the contents, whatever the names, order and compression of files."""
        return _together([_digest(path, self.opening) for path in self.paths])

    def part(self, key: bytes) -> Part:
        """What a ledger with this key keeps of these data."""
        spacing, lines = self.lines(key)
        return Part(
            data=keyed(key, self.contents),
            spacing=spacing,
            lines=tuple(sorted(lines)[:KEPT]),
            people=tuple(self.people(key)),
        )

    def lines(self, key: bytes, spacing: int = 0) -> tuple[int, set[str]]:
        """Keyed hashes of one line in ``spacing``, or in as many as leave a few thousand."""
        sample = _LineSample(key, spacing)
        for path in self.paths:
            try:
                with self.opening(path) as stream:
                    for block in _blocks_of_lines(stream):
                        sample.add(block)
            except OSError as error:
                raise _unreadable(path, error) from error
        return sample.spacing, set(sample.found)

    def people(self, key: bytes, below: str = "") -> list[str]:
        """Keyed hashes of people, in order: those up to ``below``, or the first that are kept."""
        if self.table is None:
            return []
        column = '"' + self.person.replace('"', '""') + '"'
        hashes = (
            f"select left(sha256(? || cast({column} as varchar)), 16) from (select distinct {column} from {{table}})"
        )
        which = f"where hash <= '{below}' order by 1" if below else f"where hash is not null order by 1 limit {KEPT}"
        return [
            str(row[0]) for row in self.table.rows(f"select * from ({hashes}) as of_people(hash) {which}", [key.hex()])
        ]

    def shared_lines(self, part: Part, key: bytes) -> float:
        """Which share of the part's lines is among these, or of these among the part's: the larger."""
        return overlap(part.lines, self.lines(key, part.spacing)[1], fewest=FEWEST_LINES) if part.lines else 0.0

    def shared_people(self, part: Part, key: bytes) -> float:
        """Which share of the part's people is among these, or of these among the part's: the larger."""
        return overlap(part.people, self.people(key, _last(part.people))) if part.people else 0.0


def overlap(kept: Sequence[str], others: Sequence[str] | set[str], *, fewest: int = 1) -> float:
    """How much of a set is in another, or the other in it, from the smallest hashes of the one; 0 below ``fewest``."""
    reach = _last(kept)
    comparable = {other for other in others if other <= reach}
    common = len(comparable.intersection(kept))
    return max(common / len(kept), common / len(comparable)) if common >= fewest else 0.0


def _last(kept: Sequence[str]) -> str:
    """Up to where hashes are known: all of them, where fewer were found than are kept."""
    return kept[-1] if len(kept) == KEPT else "g"


def fingerprint_files(paths: Sequence[Path]) -> str:
    """A fingerprint of the bytes of files, whatever their names and order."""
    return _together([_digest(path, _open_as_it_is) for path in paths])


def keyed(key: bytes, fingerprint: str) -> str:
    """The name under which a ledger knows a fingerprint."""
    return hmac.new(key, fingerprint.encode(), hashlib.sha256).hexdigest()


def _together(digests: list[str]) -> str:
    return hashlib.sha256(" ".join(sorted(digests)).encode()).hexdigest()


def _digest(path: Path, opening: Callable[[Path], AbstractContextManager[IO[bytes]]]) -> str:
    found = hashlib.sha256()
    try:
        with opening(path) as stream:
            while block := stream.read(BLOCK):
                found.update(block)
    except OSError as error:
        raise _unreadable(path, error) from error
    return found.hexdigest()


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} cannot be read: {error.strerror or 'it is damaged'}")


def _blocks_of_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Whole lines, many at a time, each with its newline."""
    rest = b""
    while block := stream.read(BLOCK):
        whole, newline, after = (rest + block).rpartition(b"\n")
        rest = after
        if newline:
            yield whole + newline
    if rest:
        yield rest + b"\n"


class _LineSample:
    """Keyed hashes of the lines whose ends, mixed, fall into one of ``spacing`` classes."""

    def __init__(self, key: bytes, spacing: int) -> None:
        self.key = key
        self.fixed = spacing > 0
        self.spacing = spacing or 1
        self.found: dict[str, int] = {}

    def add(self, block: bytes) -> None:
        """The sampled lines of a block, which ends with a newline."""
        starts, ends = _bounds(block)
        mixed = _mixed(block, starts, ends)
        chosen = np.flatnonzero((mixed % self.spacing == 0) & (starts < ends))
        while not self.fixed and len(chosen) > LONGEST_SAMPLE:
            self.spacing *= 2
            chosen = chosen[mixed[chosen] % self.spacing == 0]
        for line in chosen.tolist():
            word = hashlib.blake2b(block[starts[line] : ends[line]], key=self.key, digest_size=8).hexdigest()
            self.found[word] = int(mixed[line])
        while not self.fixed and len(self.found) > LONGEST_SAMPLE:
            self.spacing *= 2
            self.found = {word: mixed for word, mixed in self.found.items() if mixed % self.spacing == 0}


def _bounds(block: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Where lines start and end, without their newlines and carriage returns."""
    letters = np.frombuffer(block, dtype=np.uint8)
    newlines = np.flatnonzero(letters == ord("\n"))
    starts = np.concatenate(([0], newlines[:-1] + 1))
    returns = (newlines > starts) & (letters[newlines - 1] == ord("\r"))
    return starts, newlines - returns


def _mixed(block: bytes, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """A number for each line from its first and last eight bytes: cheap, and the same wherever the line stands."""
    padded = bytes(8) + block + bytes(8)
    words = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    sizes = np.minimum(ends - starts, 8)
    first = words[starts + 8] & LOW_BYTES[sizes]
    last = words[ends] >> ((8 - sizes) * 8).astype(np.uint64)
    mixed = (first * MIXERS[0]) ^ last
    mixed *= MIXERS[1]
    mixed ^= mixed >> np.uint64(31)
    mixed *= MIXERS[2]
    return np.asarray(mixed >> np.uint64(40), dtype=np.int64)
