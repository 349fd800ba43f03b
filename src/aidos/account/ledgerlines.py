"""The lines of a ledger file: written so that a reader can tell whole from torn, and ours from altered.

A line is one JSON object that starts with its number and kind and ends with a keyed hash of itself and of the line
before it. What a charge costs stands before everything else in its line, so that even a line that was cut short by a
crash usually still says it.

The key is in the file: the chain shows accidents and careless edits. It does not stop the owner of the file from
writing another history. That the last lines were cut off whole is told by `witness`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from aidos.account.budget import Spend
from aidos.account.composition import GaussianPart
from aidos.account.lineage import Part
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
from aidos.errors import AidosError

__all__ = ["Line", "cut_short", "parse", "read_guarantee", "read_part", "read_spend", "seal", "write_spend"]

KINDS: Mapping[str, type[Guarantee]] = {
    kind.__name__: kind
    for kind in (PureDP, ApproxDP, ProbabilisticDP, ZeroConcentratedDP, KAnonymity, QualityFloor, NoGuarantee)
}

Line = dict[str, Any]
"""What JSON makes of a line."""
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, AidosError)
"""What reading raises when somebody else wrote the line."""


def seal(key: bytes, before: str, line: Line) -> tuple[bytes, str]:
    """The line as bytes with its newline, and its hash; ``before`` is the hash of the line before."""
    chain = _chain(key, before, line)
    return json.dumps({**line, "chain": chain}, separators=(",", ":")).encode() + b"\n", chain


def parse(key: bytes, before: str, raw: bytes) -> Line | None:
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


def read_spend(line: Line) -> Spend:
    """The spend that `write_spend` wrote."""
    part = line.get("gaussian")
    if part:
        part = GaussianPart(**{**part, "cases": tuple((mu, q) for mu, q in part.get("cases", ()))})
    return Spend(read_guarantee(line["guarantee"]), part)


def read_part(written: Line) -> Part:
    """The part that `asdict` wrote."""
    return Part(**{**written, "lines": tuple(written["lines"]), "people": tuple(written["people"])})


def read_guarantee(written: Line) -> Guarantee:
    """The guarantee with the name and the fields written."""
    fields = {name: value for name, value in written.items() if name != "type"}
    if "unit" in fields:
        fields["unit"] = Unit(**fields["unit"])
    if "neighbours" in fields:
        fields["neighbours"] = Neighbours(fields["neighbours"])
    return KINDS[written["type"]](**fields)


def cut_short(raw: bytes, number: int) -> Line:
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
            read_guarantee(guarantee)
        except (*UNREADABLE, RecursionError):
            return {"kind": ""}  # no crash of ours cuts a line like that
        return {"kind": "charged", "guarantee": guarantee, "gaussian": None}
    return {"kind": ""}


def _chain(key: bytes, before: str, line: Line) -> str:
    text = before + json.dumps(line, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
