"""What a utility experiment found: tidy rows, and ways to ask them.

Every number is about the true log, and so is a finding: for its owner, not for release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from aidos.studies.study import FINDINGS, Basis, Claim, Outcome
from aidos.studies.utility.plan import Experiment, UtilityPlan
from aidos.studies.utility.poolgrid import PoolGrid

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.report.page import Block, Chapter

__all__ = ["RESULTS", "UtilityBasis", "UtilityOutcome"]

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
        from aidos.studies.utility.measured import holds_from

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
