"""From how many people on each fact of the papers comes out: measured once on the sample world, and kept.

Many facts need a log of some size: where nothing is published, nothing can be seen. ``measured.json`` has for each fact
what became of it at a few sizes, with the version, seed and settings that it was measured with; `benchmarks/utility.py
--facts` measures and writes it. A verdict is about the sample world with the usual grids. Another log of the same size
may differ, and nothing is said about sizes between those measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from aidos.core.jsontext import parse_json

__all__ = [
    "FILE",
    "NO",
    "UNKNOWN",
    "UNMEASURED",
    "VERDICTS",
    "YES",
    "Measurements",
    "holds_from",
    "measured_where",
    "measurements",
]

FILE = "measured.json"
YES, NO, UNKNOWN, UNMEASURED = "yes", "no", "cannot be told", "not measured"
VERDICTS = {True: YES, False: NO, None: UNKNOWN}
"""What became of a fact, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """What became of each fact at each size."""

    version: str
    """Of aidos."""
    seed: int
    """Of the sample world, and of all noise."""
    settings: str
    """What was tried, where it was not the usual."""
    sizes: tuple[int, ...]
    """People, rising."""
    facts: Mapping[str, tuple[str, ...]]
    """For each fact what became of it at each size."""

    def first(self, key: str, verdicts: Sequence[str]) -> int | None:
        """The smallest size from which on a fact had one of these verdicts at every size that it was measured at."""
        found = None
        for size, verdict in reversed(list(zip(self.sizes, self.facts.get(key, ()), strict=False))):
            if verdict == UNMEASURED:
                continue
            if verdict not in verdicts:
                break
            found = size
        return found

    def holds_from(self, key: str) -> str:
        """In words: a number of people, or at which sizes alone it came out."""
        known = self.facts.get(key)
        if known is None:
            return UNMEASURED
        if (least := self.first(key, (YES,))) is not None:
            return f"{least:,} people"
        only = [f"{size:,}" for size, verdict in zip(self.sizes, known, strict=True) if verdict == YES]
        return f"only at {' and '.join(only)}" if only else "at no size"


@cache
def measurements() -> Measurements:
    """Those that come with aidos."""
    held = parse_json(files("aidos.studies.utility").joinpath(FILE).read_text(encoding="utf-8"))
    facts = {key: tuple(verdicts) for key, verdicts in held["facts"].items()}
    return Measurements(
        version=held["version"],
        seed=held["seed"],
        settings=held["settings"],
        sizes=tuple(held["sizes"]),
        facts=facts,
    )


def holds_from(key: str) -> str:
    """From how many people on a fact came out, in words."""
    return measurements().holds_from(key)


def measured_where() -> str:
    """What stands behind "holds from", in words."""
    known = measurements()
    *others, last = (f"{size:,}" for size in known.sizes)
    return (
        f'"Holds from" is the smallest of {", ".join(others)} and {last} people from which on a fact came out, '
        f"measured once on the sample world (aidos {known.version}, seed {known.seed}, {known.settings})."
    )
