"""What an experiment on critical queries found: rankers side by side, member by member, beside the thesis' table.

Every ranker orders the same queries of the same members; one of them is compared with all others, and the p-values of
its comparisons with single features are corrected for their number (Holm), measure by measure. A single feature ranks
in the direction that serves it best on the very grades it is measured by: more than anybody could give it in use.

The figures of the thesis are for reading beside, not for matching: they come from people's judgements of tweets, after
training on deletions of tweets. No public data set has deletions together with texts, so the signal of the thesis is
not reproduced here; the sample world simulates it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.studies.exposure.measures import PairedT, holm, paired_tests

__all__ = ["LEARNED", "LEVEL", "MEASURES", "NOTE", "THESIS", "Comparison", "Facts", "Outcome", "RankerKind"]

Floats = NDArray[np.float64]
RankerKind = Literal["learned", "model", "feature", "signal"]

LEARNED = "learned"
"""The ranker that is trained and cross-validated within the experiment."""

MEASURES = {
    "precision_10": "P@10",
    "precision_20": "P@20",
    "ndcg_10": "NDCG@10",
    "ndcg_20": "NDCG@20",
    "kendall": "Kendall tau",
}
"""What is measured of each member's list, and its name."""

THESIS = {
    "learned": (0.566, 0.509, 0.496, 0.530, 0.107),
    "user_surprisal": (0.449, 0.447, 0.245, 0.316, 0.035),
    "document_surprisal": (0.471, 0.470, 0.262, 0.350, 0.016),
    "entropy": (0.489, 0.494, 0.262, 0.347, 0.026),
    "selectivity": (0.508, 0.489, 0.305, 0.378, 0.037),
    "rank": (0.463, 0.466, 0.248, 0.330, 0.018),
}
"""Table 5.3 of the thesis, by ranker, in the order of `MEASURES`: 100 users, 50 queries each, three judges."""

NOTE = (
    "No public data set has deletions together with texts: the signal of the thesis is not reproduced, the sample "
    "world simulates it, and its figures are not comparable with the thesis' own."
)
"""What must stand beside every figure of the sample world."""

SUMMARY = (
    "ranker",
    "kind",
    "direction",
    "measure",
    "mean",
    "low",
    "high",
    "members",
    "difference",
    "t",
    "p",
    "beaten",
)
"""The columns of a summary."""

LEVEL = 0.05
"""Below which a corrected p-value is called significant."""
LEAST_PAIRS = 5
"""Members below which nothing is called significant: a few equal differences look certain, and are not."""
Z = 1.959963984540054
"""95 % of a normal variable is within so many standard deviations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was measured on."""

    about: str
    """The community and the truth, in words."""
    members: int
    """Members whose queries differ in grade: those that rankers can be told apart by."""
    left_out: int
    """Members with enough queries, but all of one grade."""
    rows: int
    """Queries of the members that count."""
    critical: float
    """Share of them with a grade above 0."""
    topical_correlation: float
    """Pearson's correlation of topical sensitivity with the grade, over the rows."""
    kappa: float | None = None
    """Agreement of the judges; None where nobody judged."""
    unmatched: int = 0
    """Judged queries that do not return the member's post among the first k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The ranker in question against another one, on one measure."""

    ranker: str
    """The other one."""
    measure: str
    test: PairedT
    """The one in question less the other."""
    corrected: float
    """The p-value, corrected for the number of single features; as it is for other rankers."""

    @property
    def beaten(self) -> bool:
        """Whether the other one is significantly worse."""
        return self.test.difference > 0 and self.corrected < LEVEL and self.test.pairs >= LEAST_PAIRS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """All rankers on all members."""

    rankers: tuple[str, ...]
    """Names, that in question first."""
    kinds: tuple[RankerKind, ...]
    """Of what kind each is."""
    directions: tuple[int, ...]
    """1 where more is worse, -1 where a feature ranks the other way round."""
    values: Floats
    """Rankers by members by measures."""
    facts: Facts

    def __post_init__(self) -> None:
        if self.values.shape[0] != len(self.rankers) or self.values.shape[2] != len(MEASURES):
            raise InputError(f"values of {self.values.shape[0]} rankers, but {len(self.rankers)} have names")

    def of(self, ranker: str, measure: str) -> Floats:
        """The values of one ranker by member."""
        if ranker not in self.rankers or measure not in MEASURES:
            raise InputError(f"{measure} of {ranker} was not measured", hint=f"measures are {', '.join(MEASURES)}")
        found: Floats = self.values[self.rankers.index(ranker), :, list(MEASURES).index(measure)]
        return found

    def mean(self, ranker: str, measure: str) -> float:
        """The mean over members."""
        return float(np.nanmean(self.of(ranker, measure)))

    def comparisons(self, measure: str, ranker: str = "") -> list[Comparison]:
        """A ranker, the first unless another is named, against every other one."""
        asked = ranker or self.rankers[0]
        first = self.of(asked, measure)
        others = [name for name in self.rankers if name != asked]
        tests = paired_tests(first, [self.of(other, measure) for other in others])
        single = np.array([self._is_feature(other) for other in others])
        corrected = np.array([test.p for test in tests])
        corrected[single] = holm(corrected[single])
        return [
            Comparison(ranker=other, measure=measure, test=test, corrected=float(p))
            for other, test, p in zip(others, tests, corrected, strict=True)
        ]

    def unbeaten(self, measure: str, ranker: str = "") -> list[str]:
        """Single features that are not significantly worse than a ranker, the first unless another is named."""
        compared = self.comparisons(measure, ranker)
        return [one.ranker for one in compared if self._is_feature(one.ranker) and not one.beaten]

    def best_features(self, number: int = 5, measure: str = "ndcg_20") -> list[str]:
        """The single features that rank best alone, the best first."""
        names = [name for name in self.rankers if self._is_feature(name)]
        return sorted(names, key=lambda name: -self.mean(name, measure))[:number]

    def summary(self) -> pa.Table:
        """A row for each ranker and measure: mean, 95 % interval, and the comparison with the one in question."""
        rows: list[tuple[Any, ...]] = []
        for measure in MEASURES:
            against = {one.ranker: one for one in self.comparisons(measure)}
            for ranker, kind, direction in zip(self.rankers, self.kinds, self.directions, strict=True):
                values = self.of(ranker, measure)
                values = values[np.isfinite(values)]
                mean = float(values.mean()) if len(values) else float("nan")
                half = Z * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("nan")
                one = against.get(ranker)
                test = (one.test.difference, one.test.statistic, one.corrected, one.beaten) if one else (None,) * 4
                rows.append((ranker, kind, direction, measure, mean, mean - half, mean + half, len(values), *test))
        return pa.table({name: list(column) for name, column in zip(SUMMARY, zip(*rows, strict=True), strict=True)})

    def shown(self, features: Sequence[str] = (), best: int = 5) -> pa.Table:
        """The rows of the summary that people read: no single feature but the best, those named, and the thesis'."""
        wanted = {*features, *self.best_features(best), *THESIS}
        names = [name for name in self.rankers if not self._is_feature(name) or name in wanted]
        table = self.summary()
        return table.filter(pc.is_in(table["ranker"], pa.array(names, pa.string())))

    def _is_feature(self, ranker: str) -> bool:
        return self.kinds[self.rankers.index(ranker)] == "feature"

    def to_json(self) -> Mapping[str, Any]:
        """Means, comparisons and facts, for machines; nothing of single members."""
        return {
            "about": self.facts.about,
            "members": self.facts.members,
            "members_left_out": self.facts.left_out,
            "rows": self.facts.rows,
            "critical_share": self.facts.critical,
            "topical_correlation": self.facts.topical_correlation,
            "kappa": self.facts.kappa,
            "unmatched": self.facts.unmatched,
            "unbeaten_features": {measure: self.unbeaten(measure) for measure in MEASURES},
            "rankers": [_plain(row) for row in self.summary().to_pylist()],
            "thesis": {ranker: dict(zip(MEASURES, told, strict=True)) for ranker, told in THESIS.items()},
            "note": NOTE,
        }


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has no infinity and no NaN."""
    return {name: None if isinstance(value, float) and not np.isfinite(value) else value for name, value in row.items()}
