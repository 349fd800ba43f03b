"""What a utility experiment found: tidy rows, and ways to ask them.

Every number is about the true log, and so is a finding: for its owner, not for release.

From how many people on each fact of the papers comes out: measured once on the sample world, and kept.

Many facts need a log of some size: where nothing is published, nothing can be seen. ``measured.json`` has for each fact
what became of it at a few sizes, with the version, seed and settings that it was measured with; `benchmarks/utility.py
--facts` measures and writes it. A verdict is about the sample world with the usual grids. Another log of the same size
may differ, and nothing is said about sizes between those measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar

from aidos.core.jsontext import parse_json
from aidos.studies.study import FINDINGS, Basis, Claim, Outcome
from aidos.studies.utility.plan import Experiment, PoolGrid, UtilityPlan

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, Chapter

__all__ = [
    "FILE",
    "NO",
    "RESULTS",
    "UNKNOWN",
    "UNMEASURED",
    "VERDICTS",
    "YES",
    "Measurements",
    "UtilityBasis",
    "UtilityOutcome",
    "holds_from",
    "measured_where",
    "measurements",
]

RESULTS = "results"
"""The rows, and the name of their file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityBasis(Basis):
    """What was measured on."""

    people: int
    kinds: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Kinds of items that the log has none of, and why."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What else is to be known: the memory of the cache, the size of the index."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class UtilityOutcome(Outcome):
    """Results of one experiment (see `aidos.studies.utility.ground`)."""

    about: str = "the people of the log"
    experiment: Experiment
    plan: UtilityPlan
    basis: UtilityBasis
    pool: PoolGrid = field(default_factory=PoolGrid)
    """What was tried of the pool release, where it was."""

    titles: ClassVar[Mapping[str, str]] = {
        "statistics": "What a release keeps of the log's statistics",
        "caching": "What a release is worth for caching an index",
        "substitution": "What a release is worth for suggesting queries",
        "retrieval": "What a release is worth for ranking results",
        "mechanisms": "Mechanisms at equal guarantees",
    }

    def title(self) -> str:
        """By experiment."""
        return self.titles[self.experiment]

    @property
    def results(self) -> pa.Table:
        """All rows."""
        return self.rows[RESULTS]

    @cached_property
    def told(self) -> list[dict[str, Any]]:
        """The results as rows."""
        return self.results.to_pylist()

    def find(self, measure: str, **wanted: Any) -> list[dict[str, Any]]:
        """Rows of a measure whose columns have these values, in the order of strength, limit, k, and top."""
        found = [
            row
            for row in self.told
            if row["measure"] == measure and all(row[name] == value for name, value in wanted.items())
        ]
        return sorted(found, key=_order)

    def number(self, measure: str, **wanted: Any) -> float:
        """The mean over repetitions; not a number where there are none."""
        import numpy as np

        values = [row["value"] for row in self.find(measure, **wanted)]
        return float(np.mean(values)) if values else float("nan")

    def along(self, axis: str, measure: str, **wanted: Any) -> list[tuple[float, float]]:
        """Means of a measure by a column, in its order."""
        import numpy as np

        places: dict[float, list[float]] = {}
        for row in self.find(measure, **wanted):
            if row[axis] is not None:
                places.setdefault(float(row[axis]), []).append(row["value"])
        return [(place, float(np.mean(values))) for place, values in sorted(places.items())]

    def summaries(self) -> dict[str, pa.Table]:
        """All results in one tidy table."""
        return {RESULTS: self.results}

    def read_claims(self) -> list[Claim]:
        """What the papers found, and what became of it."""
        from aidos.studies.utility.searchclaims import read_claims

        return read_claims(self)

    def facts(self) -> Mapping[str, object]:
        """Facts, results and claims."""
        return {**self.place(), **self.for_machines()}

    def for_machines(self) -> dict[str, object]:
        """The same without the place."""
        from aidos.studies.tables import plain

        pool = {"pool": asdict(self.pool)} if self.experiment == "retrieval" else {}
        claims = [
            {"key": one.key, "fact": one.finding, "paper": one.paper, "here": one.here, "holds": one.holds}
            | {"holds_from": holds_from(one.key)}
            for one in self.claims
        ]
        head = {"experiment": self.experiment, "facts": asdict(self.basis)}
        return {**head, **pool, "results": plain(self.told), "claims": claims}

    def blocks(self) -> Sequence[Block]:
        """What the papers found and what was found here."""
        return (self.claims_table(self.basis.about),)

    def claims_table(self, caption: str) -> Block:
        """The same, under a caption."""
        from aidos.report.page import DataTable
        from aidos.studies.utility.page import CLAIM_COLUMNS, claim_rows

        return DataTable(caption=caption, columns=CLAIM_COLUMNS, rows=tuple(claim_rows(self)))

    def remarks(self) -> Sequence[str]:
        """What is left out, what to know about the numbers, where to read on, and whose they are."""
        left_out = [f"{kind} are left out: {why}" for kind, why in self.basis.left_out.items()]
        return (*left_out, *self.known(), *super().remarks(), *(() if self.synthetic else (FINDINGS,)))

    def known(self) -> tuple[str, ...]:
        """What to know about the numbers of one experiment."""
        from aidos.studies.utility.searchpage import tell_pairs, tell_pool

        if self.experiment == "retrieval":
            return (tell_pool(self.pool),)
        words = tell_pairs(self) if self.experiment == "substitution" else ""
        return (words,) if words else ()

    def lead(self) -> str:
        """The log, as a sentence."""
        return f"{self.basis.about}."

    def chapters(self) -> list[Chapter]:
        """In short, then every figure with its table."""
        from aidos.studies.utility.page import utility_chapters

        return utility_chapters(self)


def _order(row: Mapping[str, Any]) -> tuple[float, ...]:
    names = ("epsilon", "items_per_person", "k", "noise_scale", "threshold", "top", "repeat")
    return tuple(-1.0 if row[name] is None else float(row[name]) for name in names)


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
