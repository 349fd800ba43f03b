"""What an experiment on risk measures found: tables for people to read, beside the thesis' own.

    summary        each measure's R-precision (micro with a 95 % interval, macro), MAP and NDCG
    comparisons    paired t-tests over sensitive people, as in the thesis: every topical measure against both baselines,
                   every form against the plain one of its space, DT against D and T; p-values of a family are corrected
                   by Holm's method. The people of a test are taken for a sample of those one asks about.
    roles          where afflicted, professional and curious people stand by each measure
    sweep          what becomes of a measure when one parameter is varied

Claims are read from them, with the numbers:

    topical measures are above both baselines        the plain ones and DT, by micro R-precision
    breadth (D) sets professionals back              a lower percentile, and more afflicted people before them
    recurrence (T) sets curious people back          more afflicted people before them, and fewer of the first R places
    both together (DT) are best                      in their space, and over all measures

A claim that fails by little may do so by chance: the comparisons say how sure a difference is.

Percentiles of roles are near 1 for everybody who ever touched the topic, since most people never do. What sets roles
apart is who stands before whom: `behind` is the share of afflicted people before somebody of the role (one half: they
are mixed), `taken` the share of the first R places that the role takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.studies.risk.assessment import WATCHED
from aidos.studies.study import Basis, Claim, Outcome
from aidos.studies.tables import LEVEL, PairedTest, holm, interval, mean_of, paired_test, plain

if TYPE_CHECKING:
    from aidos.report.page import Block, Chapter

__all__ = ["BASELINES", "FORMS", "SPACES", "THESIS", "RiskBasis", "RiskOutcome"]

Floats = NDArray[np.float64]
BASELINES = ("entropy", "differential-privacy")
SPACES = ("bow", "lda", "w2v")
FORMS = ("d", "t", "dt")

THESIS: Mapping[str, tuple[float, float, float]] = {
    "entropy": (0.495, 0.560, 0.239),
    "differential-privacy": (0.475, 0.560, 0.239),
    "bow": (0.434, 0.642, 0.284),
    "bow-d": (0.364, 0.612, 0.418),
    "bow-t": (0.556, 0.582, 0.284),
    "bow-dt": (0.374, 0.612, 0.463),
    "lda": (0.525, 0.649, 0.358),
    "lda-d": (0.566, 0.716, 0.493),
    "lda-t": (0.576, 0.709, 0.299),
    "lda-dt": (0.616, 0.716, 0.418),
    "w2v": (0.556, 0.664, 0.343),
    "w2v-d": (0.414, 0.642, 0.493),
    "w2v-t": (0.586, 0.619, 0.313),
    "w2v-dt": (0.545, 0.687, 0.463),
}
"""Micro R-precision in the thesis (tables 6.4 and 6.5): AOL (500 judged profiles), health forums (400), Quora (200)."""
THESIS_DATA = ("aol", "health_forums", "quora")


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskBasis(Basis):
    """What was measured on."""

    people: int
    entries: int
    kappa: float | None = None
    """Agreement of the judges; None where nobody judged."""
    judges: int = 0
    unknown: int = 0
    """Judged profiles of people who are not there."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Topics and measures that could not be measured, each with the reason."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RiskOutcome(Outcome):
    """All measures on all topics: a row for each, see `aidos.studies.risk.assessment.SCHEMA`."""

    about: str = "the judged people"
    basis: RiskBasis

    heading: ClassVar = "Which measure finds the vulnerable"
    says: ClassVar = "has every comparison"

    @cached_property
    def measured(self) -> pa.Table:
        """All rows."""
        return pa.concat_tables(self.rows.values())

    @cached_property
    def plain(self) -> pa.Table:
        """Those of measures as they are."""
        return self.measured.filter(pc.is_null(self.measured["parameter"]))

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The measures as they are, in order."""
        return tuple(dict.fromkeys(map(str, self.plain["measure"].to_pylist())))

    def tried(self, *measures: str) -> bool:
        """Whether all of these were measured."""
        return set(measures) <= set(self.measures)

    def found(self, measure: str) -> Floats:
        """For each sensitive person and topic the chance to be among the first R, in one order for all measures."""
        return _flat(self._of(measure), "found")

    def micro(self, measure: str) -> float:
        """Micro R-precision."""
        return mean_of(self.found(measure))

    @property
    def knows_roles(self) -> bool:
        """Whether it is known who is a professional or curious, as in the sample world."""
        return any(len(_flat(self.measured, f"{role}_percentiles")) for role in WATCHED)

    def role(self, measure: str, role: str, what: str) -> float:
        """The mean over people of a role of ``percentiles`` or ``behind``, or the mean over topics of ``taken``."""
        rows = self._of(measure)
        if what == "taken":
            return mean_of(np.array(rows[f"{role}_{what}"].to_numpy(zero_copy_only=False), dtype=np.float64))
        return mean_of(_flat(rows, f"{role}_{what}"))

    def _summary(self) -> pa.Table:
        """A row for each measure."""
        rows = []
        for measure in self.measures:
            _, low, high, sensitive = interval(self.found(measure))
            told = _averages(self._of(measure))
            bounds = {"low": max(low, 0.0), "high": min(high, 1.0), "sensitive": sensitive}
            thesis = dict(zip(THESIS_DATA, THESIS.get(measure, (None,) * 3), strict=True))
            rows.append({"measure": measure, **told, **bounds, **{f"thesis_{k}": v for k, v in thesis.items()}})
        return pa.Table.from_pylist(rows)

    def _topics(self) -> pa.Table:
        """A row for each measure and topic: how many are sensitive, R-precision, average precision, NDCG."""
        rows = self.plain
        precisions = [mean_of(np.array(found, dtype=np.float64)) for found in rows["found"].to_pylist()]
        kept = rows.select(["measure", "topic", "people", "sensitive", "average_precision", "ndcg"])
        return kept.append_column("r_precision", pa.array(precisions, pa.float64()))

    def _comparisons(self) -> pa.Table:
        """A row for each pair of measures that the thesis compares."""
        rows: list[dict[str, Any]] = []
        for family, pairs in self._pairs().items():
            tests = [paired_test(self.found(other), self.found(one)) for one, other in pairs]
            corrected = holm([test.p for test in tests])
            rows += [
                _comparison(family, pair, test, float(p)) for pair, test, p in zip(pairs, tests, corrected, strict=True)
            ]
        return pa.Table.from_pylist(rows)

    def _roles(self) -> pa.Table:
        """A row for each measure and role; none where roles are not known."""
        rows = []
        for measure in self.measures:
            for role in WATCHED:
                shares = _flat(self._of(measure), f"{role}_percentiles")
                if not len(shares):
                    continue
                percentile, low, high, _ = interval(shares)
                rows.append(
                    {
                        "measure": measure,
                        "role": role,
                        "people": len(shares),
                        "percentile": percentile,
                        "low": max(low, 0.0),
                        "high": min(high, 1.0),
                        "behind": self.role(measure, role, "behind"),
                        "taken": self.role(measure, role, "taken"),
                    }
                )
        return pa.Table.from_pylist(rows)

    def _sweep(self) -> pa.Table:
        """A row for each measure and value of a parameter that was varied."""
        varied = self.measured.filter(pc.is_valid(self.measured["parameter"]))
        keys = ("measure", "parameter", "value")
        settings = dict.fromkeys(zip(*(varied[key].to_pylist() for key in keys), strict=True))
        rows = []
        for measure, parameter, value in settings:
            same = pc.and_(
                pc.and_(pc.equal(varied["measure"], pa.scalar(measure)), pc.equal(varied["parameter"], parameter)),
                pc.equal(varied["value"], pa.scalar(value, pa.float64())),
            )
            rows.append({"measure": measure, "parameter": parameter, "value": value} | _averages(varied.filter(same)))
        return pa.Table.from_pylist(rows)

    def summaries(self) -> dict[str, pa.Table]:
        """All tables; nothing of single people."""
        tables = {"summary": self._summary(), "by-topic": self._topics(), "comparisons": self._comparisons()}
        return tables | {"roles": self._roles(), "sweep": self._sweep()}

    def facts(self) -> Mapping[str, object]:
        """All tables, and the thesis' numbers."""
        told = {name.replace("by-topic", "topics"): rows for name, rows in self.told_rows().items()}
        thesis = {measure: dict(zip(THESIS_DATA, numbers, strict=True)) for measure, numbers in THESIS.items()}
        return {**self.place(), "facts": plain(asdict(self.basis)), **told, "thesis": thesis}

    def blocks(self) -> Sequence[Block]:
        """All measures."""
        from aidos.report.page import DataTable
        from aidos.studies.risk.page import MEASURE_COLUMNS, measure_rows

        return (DataTable(caption=self.basis.about, columns=MEASURE_COLUMNS, rows=tuple(measure_rows(self))),)

    def remarks(self) -> Sequence[str]:
        """What could not be measured."""
        return (*(f"{what} is left out: {why}" for what, why in self.basis.left_out.items()), *super().remarks())

    def read_claims(self) -> list[Claim]:
        """The findings that can be read from the measures at hand; those that count words are none of the thesis'."""
        from aidos.rooms.risk.measures import KEYWORDS

        found = [claim for space in SPACES if self.tried(space) for claim in _of_space(self, space)]
        combined = [f"{space}-dt" for space in SPACES if self.tried(f"{space}-dt")]
        values = {measure: self.micro(measure) for measure in self.measures if measure not in KEYWORDS}
        if combined and len(values) > len(combined):
            best = max(values.values())
            holds = any(values[measure] == best for measure in combined)
            found.append(Claim(finding="the best measure of all is a DT", holds=holds, values=values))
        return found

    def chapters(self) -> list[Chapter]:
        """Measures side by side, the thesis beside, and how robust they are."""
        from aidos.studies.risk.page import risk_chapters

        return risk_chapters(self)

    def _of(self, measure: str) -> pa.Table:
        found = self.plain.filter(pc.equal(self.plain["measure"], pa.scalar(measure)))
        if not found.num_rows:
            raise InputError(f"{measure} was not measured", hint=f"there are {', '.join(self.measures)}")
        return found

    def _pairs(self) -> dict[str, list[tuple[str, str]]]:
        """Which measures are compared, by family."""
        spaces = [(space, [f"{space}-{form}" for form in FORMS]) for space in SPACES]
        wanted = {
            "baselines": [(one, base) for space, forms in spaces for one in (space, *forms) for base in BASELINES],
            "dimensions": [(form, space) for space, forms in spaces for form in forms],
            "combined": [(f"{space}-dt", f"{space}-{form}") for space, _ in spaces for form in ("d", "t")],
        }
        return {family: [pair for pair in pairs if self.tried(*pair)] for family, pairs in wanted.items()}


def _averages(rows: pa.Table) -> dict[str, float]:
    """Micro and macro R-precision, MAP and NDCG of one measure; topics without sensitive people do not count."""
    lists = [np.array(found, dtype=np.float64) for found in rows["found"].to_pylist()]
    return {
        "micro": mean_of(np.concatenate([*lists, np.zeros(0)])),
        "macro": mean_of(np.array([mean_of(found) for found in lists])),
        "map": mean_of(np.array(rows["average_precision"].to_pylist(), dtype=np.float64)),
        "ndcg": mean_of(np.array(rows["ndcg"].to_pylist(), dtype=np.float64)),
    }


def _comparison(family: str, pair: tuple[str, str], test: PairedTest, corrected: float) -> dict[str, Any]:
    return {
        "family": family,
        "measure": pair[0],
        "against": pair[1],
        "difference": test.difference,
        "t": test.statistic,
        "p": test.p,
        "corrected": corrected,
        "people": test.pairs,
        "better": test.difference > 0 and corrected < LEVEL,
    }


def _flat(rows: pa.Table, column: str) -> Floats:
    values = [value for listed in rows[column].to_pylist() for value in listed or ()]
    return np.array(values, dtype=np.float64)


def _of_space(outcome: RiskOutcome, space: str) -> Iterator[Claim]:
    domain, time, both = (f"{space}-{form}" for form in FORMS)
    for one in (space, both):
        if outcome.tried(one, *BASELINES):
            values = {name: outcome.micro(name) for name in (one, *BASELINES)}
            holds = values[one] > max(values[base] for base in BASELINES)
            yield Claim(finding=f"{one} is above both baselines", space=space, holds=holds, values=values)
    if outcome.knows_roles and outcome.tried(domain):
        yield _rises(outcome, "D lowers professionals", "professional", "percentiles", (domain, space))
        yield _rises(outcome, "D sets professionals behind", "professional", "behind", (space, domain))
    if outcome.knows_roles and outcome.tried(time):
        yield _rises(outcome, "T sets the curious behind", "curious", "behind", (space, time))
        yield _rises(outcome, "T takes places from the curious", "curious", "taken", (time, space))
    if outcome.tried(domain, time, both):
        values = {name: outcome.micro(name) for name in (space, domain, time, both)}
        yield Claim(
            finding="DT is the best of its space",
            space=space,
            holds=values[both] == max(values.values()),
            values=values,
        )


def _rises(outcome: RiskOutcome, finding: str, role: str, what: str, measures: tuple[str, str]) -> Claim:
    """A claim that a number of a role is lower by the first measure than by the second."""
    lower, higher = (outcome.role(measure, role, what) for measure in measures)
    values = dict(zip(measures, (lower, higher), strict=True))
    return Claim(finding=finding, space=measures[0].partition("-")[0], holds=lower < higher, values=values)
