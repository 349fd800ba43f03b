"""What a ledger file says: its lines, and the budget, the charges and what became of them.

A line is one JSON object that starts with its number and kind and ends with a keyed hash of itself and of the line
before it. Lines are believed only if this chain holds. What a charge costs stands before everything else in its line,
so that even a line that a crash cut short usually still says it. Such a line is recognised at the end of the file, or
by the mark that the next writer put after it; anything else that does not fit is damage, and is refused.

The key is in the file: the chain shows accidents and careless edits. It does not stop the owner of the file from
writing another history. That the last lines were cut off whole is told by `witness`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aidos.account.budget import Accountant, Budget, Spend
from aidos.account.composition import GaussianPart
from aidos.account.lineage import Part, keyed
from aidos.core.guarantee import (
    ApproxDP,
    Guarantee,
    KAnonymity,
    Neighbours,
    NoGuarantee,
    ProbabilisticDP,
    PureDP,
    QualityFloor,
    Unit,
    ZeroConcentratedDP,
)
from aidos.core.jsontext import parse_json
from aidos.errors import AidosError, InputError

__all__ = ["FORMAT", "Charge", "LedgerState", "digest", "read_state", "seal", "write_spend"]

KINDS: Mapping[str, type[Guarantee]] = {
    kind.__name__: kind
    for kind in (PureDP, ApproxDP, ProbabilisticDP, ZeroConcentratedDP, KAnonymity, QualityFloor, NoGuarantee)
}

Line = dict[str, Any]
"""What JSON makes of a line."""
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, AidosError)
"""What reading raises when somebody else wrote the line."""
FORMAT = 2
"""Format 1 knew its data by their bytes alone; it is read, and goes on as it is."""


@dataclass(slots=True)
class Charge:
    """One charge and what became of it."""

    number: int
    time: str
    spend: Spend | None
    """None where a crash cut the line short before its cost: then everything that was left is spent."""
    about: str = ""
    outcome: str = "unknown"
    """Published, abandoned, cut short, or unknown where no remark followed; all of them count."""


@dataclass(slots=True)
class LedgerState:
    """What a ledger file says."""

    budget: Budget
    key: bytes
    id: str
    """A random name, which releases carry."""
    source: str
    """What its owner calls the data."""
    parts: list[Part]
    """The states of the data that were seen."""
    opened: str
    heads: dict[int, str]
    """The hash of every line, by its number."""
    witnesses: tuple[str, ...] = ()
    """Witnesses besides that of the registry."""
    disjoint: tuple[str, ...] = ()
    """Ids of ledgers that are about other people, as its owner declared."""
    people: int | None = None
    """How many people there are, where its owner made that public."""
    lines: int = 1
    closed: bool = False
    charges: list[Charge] = field(default_factory=list)
    torn: bytes = b""
    """A last line that was cut short and not yet sealed by the next writer."""
    unended: bool = False
    """Whether the last line is whole but for its newline."""

    @property
    def spends(self) -> list[Spend]:
        """What was charged, as far as its cost is known."""
        return [charge.spend for charge in self.charges if charge.spend]

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        if any(charge.spend is None for charge in self.charges):
            return self.budget.epsilon, self.budget.delta
        return self.budget.spent(self.spends)

    def left(self) -> tuple[float, float]:
        """Epsilon and delta that remain, each by itself."""
        spent = self.spent()
        return max(self.budget.epsilon - spent[0], 0.0), max(self.budget.delta - spent[1], 0.0)

    @property
    def chain(self) -> str:
        """The hash of the last line."""
        return self.heads[self.lines]

    def knows(self, fingerprint: str) -> Part | None:
        """What was kept, last, of data with this fingerprint."""
        name = keyed(self.key, fingerprint)
        return next((part for part in reversed(self.parts) if part.data == name), None)


def read_state(path: Path, contents: bytes) -> LedgerState:
    """Read a ledger from the bytes of its file; ``path`` is for messages."""
    lines = contents.split(b"\n")
    if len(lines) < 2:
        raise _foreign(path)
    state = _header(path, lines[0])
    if _is_whole(lines[-1]):
        # Only the newline was lost: the line counts, and whoever writes next ends it.
        state.unended = True
        lines.append(b"")
    position, last = 1, len(lines) - 1  # what follows the last newline is empty, or was cut short
    while position < last:
        line = _parse(state.key, state.chain, lines[position])
        if line is None:
            mark = _end_of_torn(lines, position, state.lines + 1)
            if mark > last:
                break
            line = _parse(state.key, state.chain, lines[mark]) if mark < last else None
            torn = b"\n".join(lines[position:mark])
            if line is None or line["kind"] != "torn" or line["digest"] != digest(torn):
                raise _damaged(path, position)
            _count_torn(state, lines[position], line["time"])
            position = mark
        else:
            _apply(state, line)
        state.lines = line["line"]
        state.heads[state.lines] = parse_json(lines[position])["chain"]
        position += 1
    state.torn = b"\n".join(lines[position:])
    if state.torn:
        if _is_whole(lines[position]) and _parse(state.key, state.chain, lines[position]) is None:
            raise _damaged(path, position)
        _count_torn(state, lines[position], "")
    return state


def _end_of_torn(lines: list[bytes], start: int, number: int) -> int:
    """Where a torn line ends: after it come marks of writers who crashed while marking it, torn themselves."""
    opening = b'{"line":%d,"kind":"torn"' % number
    end = start + 1
    while end < len(lines) and not _is_whole(lines[end]) and lines[end][: len(opening)] == opening[: len(lines[end])]:
        end += 1
    return end


def _is_whole(raw: bytes) -> bool:
    try:
        return "chain" in parse_json(raw)
    except (ValueError, TypeError):
        return False


def digest(raw: bytes) -> str:
    """What identifies a torn line in the mark that follows it."""
    return hashlib.sha256(raw).hexdigest()


def _header(path: Path, raw: bytes) -> LedgerState:
    try:
        written = parse_json(raw)
        key = bytes.fromhex(written["key"])
        header = _parse(key, "", raw)
        if header is None or header["ledger"] not in {1, FORMAT}:
            raise _foreign(path)
        asked = header["budget"]
        budget = Budget(
            epsilon=asked["epsilon"],
            delta=asked["delta"],
            unit=Unit(**asked["unit"]),
            neighbours=Neighbours(asked["neighbours"]),
            accountant=Accountant(asked["accountant"]),
        )
        if header["ledger"] == 1:
            parts, name = [Part(data=header["data"])], keyed(key, "id")[:32]
        else:
            parts, name = [_read_part(header["part"])], header["id"]
        return LedgerState(
            budget,
            key,
            name,
            header.get("source", ""),
            parts,
            header["time"],
            {1: written["chain"]},
            witnesses=tuple(header.get("witnesses", ())),
            disjoint=tuple(header.get("disjoint", ())),
            people=header.get("people"),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise _foreign(path) from error


def _damaged(path: Path, position: int) -> InputError:
    return InputError(
        f"{path}, line {position + 1}: the ledger is damaged or was altered",
        hint="bring it back from a backup; until then nothing can be released from these data",
    )


def _foreign(path: Path) -> InputError:
    return InputError(
        f"{path} is no ledger of this version of aidos, or opening it was interrupted",
        hint="open one with: aidos ledger open",
    )


def _apply(state: LedgerState, line: Line) -> None:
    match line["kind"]:
        case "charged":
            state.charges.append(Charge(line["line"], line["time"], _read_spend(line), line["about"]))
        case "settled":
            next(c for c in state.charges if c.number == line["charge"]).outcome = line["outcome"]
        case "part":
            state.parts.append(_read_part(line["part"]))
            state.disjoint += tuple(line["disjoint"])
        case "closed":
            state.closed = True


def _count_torn(state: LedgerState, raw: bytes, time: str) -> None:
    """Count a line that was cut short: a charge with its cost, or with everything if the cost cannot be read."""
    line = _cut_short(raw, state.lines + 1)
    match line["kind"]:
        case "closed":
            state.closed = True
        case "settled" | "torn" | "part":
            pass
        case "charged":
            state.charges.append(Charge(state.lines + 1, time, _read_spend(line), outcome="cut short"))
        case _:
            state.charges.append(Charge(state.lines + 1, time, None, outcome="cut short"))


def seal(key: bytes, before: str, line: Line) -> tuple[bytes, str]:
    """The line as bytes with its newline, and its hash; ``before`` is the hash of the line before."""
    chain = _chain(key, before, line)
    return json.dumps({**line, "chain": chain}, separators=(",", ":")).encode() + b"\n", chain


def _parse(key: bytes, before: str, raw: bytes) -> Line | None:
    """The line, or None if it is not whole, not ours, or not the one that follows."""
    try:
        line = parse_json(raw)
        chain = line.pop("chain")
        return line if hmac.compare_digest(chain, _chain(key, before, line)) else None
    except UNREADABLE:
        return None


def write_spend(spend: Spend) -> Line:
    """A spend as JSON, the cost first."""
    guarantee = {"type": type(spend.guarantee).__name__, **asdict(spend.guarantee)}
    return {"guarantee": guarantee, "gaussian": asdict(spend.gaussian) if spend.gaussian else None}


def _read_spend(line: Line) -> Spend:
    """The spend that `write_spend` wrote."""
    part = line.get("gaussian")
    if part:
        part = GaussianPart(**{**part, "cases": tuple((mu, q) for mu, q in part.get("cases", ()))})
    return Spend(_read_guarantee(line["guarantee"]), part)


def _read_part(written: Line) -> Part:
    """The part that `asdict` wrote."""
    return Part(**{**written, "lines": tuple(written["lines"]), "people": tuple(written["people"])})


def _read_guarantee(written: Line) -> Guarantee:
    """The guarantee with the name and the fields written."""
    fields = {name: value for name, value in written.items() if name != "type"}
    if "unit" in fields:
        fields["unit"] = Unit(**fields["unit"])
    if "neighbours" in fields:
        fields["neighbours"] = Neighbours(fields["neighbours"])
    return KINDS[written["type"]](**fields)


def _cut_short(raw: bytes, number: int) -> Line:
    """What can be read of a line that a crash cut short: its kind, and the cost of a charge.

    The kind is empty if not even that can be read.
    """
    text = raw.decode(errors="replace")
    for kind in ("settled", "closed", "torn", "part"):
        if text.startswith(f'{{"line":{number},"kind":"{kind}"'):
            return {"kind": kind}
    start = f'{{"line":{number},"kind":"charged","guarantee":'
    if text.startswith(start):
        try:
            guarantee, _ = json.JSONDecoder().raw_decode(text, len(start))
            _read_guarantee(guarantee)
        except (*UNREADABLE, RecursionError):
            return {"kind": ""}  # no crash of ours cuts a line like that
        return {"kind": "charged", "guarantee": guarantee, "gaussian": None}
    return {"kind": ""}


def _chain(key: bytes, before: str, line: Line) -> str:
    text = before + json.dumps(line, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
