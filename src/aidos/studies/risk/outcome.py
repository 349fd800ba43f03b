"""What an experiment on risk measures found: tables for people to read, beside the thesis' own.

    summary        each measure's R-precision (micro with a 95 % interval, macro), MAP and NDCG
    comparisons    paired t-tests over sensitive people, as in the thesis: every topical measure against both baselines,
                   every form against the plain one of its space, DT against D and T; p-values of a family are corrected
                   by Holm's method. The people of a test are taken for a sample of those one asks about.
    roles          where afflicted, professional and curious people stand by each measure
    sweep          what becomes of a measure when one parameter is varied

`aidos.studies.risk.claims` reads from them whether the thesis' findings hold.

Percentiles of roles are near 1 for everybody who ever touched the topic, since most people never do. What sets roles
apart is who stands before whom: `behind` is the share of afflicted people before somebody of the role (one half: they
are mixed), `taken` the share of the first R places that the role takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.studies.exposure.measures import PairedT, holm, paired_t
from aidos.studies.risk.truth import WATCHED

__all__ = ["BASELINES", "FORMS", "LEVEL", "SPACES", "THESIS", "Facts", "Outcome"]

Floats = NDArray[np.float64]
BASELINES = ("entropy", "differential-privacy")
SPACES = ("bow", "lda", "w2v")
FORMS = ("d", "t", "dt")
LEVEL = 0.05
"""Below which a corrected p-value is called significant."""
Z = 1.959963984540054
"""95 % of a normal variable is within so many standard deviations."""

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
class Facts:
    """What was measured on."""

    about: str
    """The people and the truth, in words."""
    people: int
    entries: int
    kappa: float | None = None
    """Agreement of the judges; None where nobody judged."""
    judges: int = 0
    unknown: int = 0
    """Judged profiles of people who are not there."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Topics and measures that could not be measured, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """All measures on all topics."""

    rows: pa.Table
    """A row for each measure and topic; see `aidos.studies.risk.assessment.SCHEMA`."""
    facts: Facts

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures as they are, in order."""
        return tuple(dict.fromkeys(map(str, self._plain()["measure"].to_pylist())))

    def has(self, *measures: str) -> bool:
        """Whether all of these were measured."""
        return set(measures) <= set(self.measures)

    def found(self, measure: str) -> Floats:
        """For each sensitive person and topic the chance to be among the first R, in one order for all measures."""
        return _flat(self._of(measure), "found")

    def micro(self, measure: str) -> float:
        """Micro R-precision."""
        return _mean(self.found(measure))

    @property
    def knows_roles(self) -> bool:
        """Whether it is known who is a professional or curious, as in the sample world."""
        return any(len(_flat(self.rows, f"{role}_percentiles")) for role in WATCHED)

    def role(self, measure: str, role: str, what: str) -> float:
        """The mean over people of a role of ``percentiles`` or ``behind``, or the mean over topics of ``taken``."""
        rows = self._of(measure)
        if what == "taken":
            return _mean(np.array(rows[f"{role}_{what}"].to_numpy(zero_copy_only=False), dtype=np.float64))
        return _mean(_flat(rows, f"{role}_{what}"))

    def summary(self) -> pa.Table:
        """A row for each measure."""
        rows = []
        for measure in self.measures:
            values = self.found(measure)
            half = Z * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("nan")
            told = _averages(self._of(measure))
            low, high = max(told["micro"] - half, 0.0), min(told["micro"] + half, 1.0)
            bounds = {"low": low, "high": high, "sensitive": len(values)}
            thesis = dict(zip(THESIS_DATA, THESIS.get(measure, (None,) * 3), strict=True))
            rows.append({"measure": measure, **told, **bounds, **{f"thesis_{k}": v for k, v in thesis.items()}})
        return pa.Table.from_pylist(rows)

    def topics(self) -> pa.Table:
        """A row for each measure and topic: how many are sensitive, R-precision, average precision, NDCG."""
        rows = self._plain()
        precisions = [_mean(np.array(found, dtype=np.float64)) for found in rows["found"].to_pylist()]
        kept = rows.select(["measure", "topic", "people", "sensitive", "average_precision", "ndcg"])
        return kept.append_column("r_precision", pa.array(precisions, pa.float64()))

    def comparisons(self) -> pa.Table:
        """A row for each pair of measures that the thesis compares."""
        rows: list[dict[str, Any]] = []
        for family, pairs in self._pairs().items():
            tests = [paired_t(self.found(one), self.found(other)) for one, other in pairs]
            corrected = holm([test.p for test in tests])
            rows += [
                _comparison(family, pair, test, float(p)) for pair, test, p in zip(pairs, tests, corrected, strict=True)
            ]
        return pa.Table.from_pylist(rows)

    def roles(self) -> pa.Table:
        """A row for each measure and role; none where roles are not known."""
        rows = []
        for measure in self.measures:
            for role in WATCHED:
                shares = _flat(self._of(measure), f"{role}_percentiles")
                if not len(shares):
                    continue
                half = Z * float(shares.std(ddof=1)) / len(shares) ** 0.5 if len(shares) > 1 else float("nan")
                percentile = _mean(shares)
                rows.append(
                    {
                        "measure": measure,
                        "role": role,
                        "people": len(shares),
                        "percentile": percentile,
                        "low": max(percentile - half, 0.0),
                        "high": min(percentile + half, 1.0),
                        "behind": self.role(measure, role, "behind"),
                        "taken": self.role(measure, role, "taken"),
                    }
                )
        return pa.Table.from_pylist(rows)

    def sweep(self) -> pa.Table:
        """A row for each measure and value of a parameter that was varied."""
        varied = self.rows.filter(pc.is_valid(self.rows["parameter"]))
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

    def to_json(self) -> dict[str, Any]:
        """All tables, for machines; nothing of single people."""
        return {
            "facts": _clean(asdict(self.facts)),
            "summary": [_clean(row) for row in self.summary().to_pylist()],
            "topics": [_clean(row) for row in self.topics().to_pylist()],
            "comparisons": [_clean(row) for row in self.comparisons().to_pylist()],
            "roles": [_clean(row) for row in self.roles().to_pylist()],
            "sweep": [_clean(row) for row in self.sweep().to_pylist()],
            "thesis": {measure: dict(zip(THESIS_DATA, told, strict=True)) for measure, told in THESIS.items()},
        }

    def _plain(self) -> pa.Table:
        return self.rows.filter(pc.is_null(self.rows["parameter"]))

    def _of(self, measure: str) -> pa.Table:
        plain = self._plain()
        found = plain.filter(pc.equal(plain["measure"], pa.scalar(measure)))
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
        return {family: [pair for pair in pairs if self.has(*pair)] for family, pairs in wanted.items()}


def _averages(rows: pa.Table) -> dict[str, float]:
    """Micro and macro R-precision, MAP and NDCG of one measure; topics without sensitive people do not count."""
    lists = [np.array(found, dtype=np.float64) for found in rows["found"].to_pylist()]
    return {
        "micro": _mean(np.concatenate([*lists, np.zeros(0)])),
        "macro": _mean(np.array([_mean(found) for found in lists])),
        "map": _mean(np.array(rows["average_precision"].to_pylist(), dtype=np.float64)),
        "ndcg": _mean(np.array(rows["ndcg"].to_pylist(), dtype=np.float64)),
    }


def _comparison(family: str, pair: tuple[str, str], test: PairedT, corrected: float) -> dict[str, Any]:
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


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _clean(value: Any) -> Any:
    """JSON has no infinity and no NaN."""
    if isinstance(value, Mapping):
        return {name: _clean(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(held) for held in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
