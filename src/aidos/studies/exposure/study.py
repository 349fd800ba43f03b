"""Which exposing queries are critical: rankers side by side, member by member, beside the thesis' table.

Every ranker orders the same queries of the same members; one of them is compared with all others, and the p-values of
its comparisons with single features are corrected for their number (Holm), measure by measure. A single feature ranks
in the direction that serves it best on the very grades it is measured by: more than anybody could give it in use.

The figures of the thesis are for reading beside, not for matching: they come from people's judgements of tweets, after
training on deletions of tweets. No public data set has deletions together with texts, so the signal of the thesis is
not reproduced here; the sample world simulates it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.limits import SEED
from aidos.errors import InputError, ParameterError
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, RequiredInTerminal, Short
from aidos.studies.study import Basis, OnWorld, Outcome

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from aidos.report.page import Block, Chapter
    from aidos.rooms.exposure.critical.model import CriticalityModel
    from aidos.studies.tables import PairedTest

    Floats = NDArray[np.float64]

__all__ = [
    "BASIS",
    "KEPT",
    "LEARNED",
    "MEASURES",
    "NOTE",
    "SENSITIVITY",
    "THESIS",
    "Comparison",
    "ExposureBasis",
    "ExposureOutcome",
    "ExposureStudy",
    "RankerKind",
]

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

KEPT, BASIS = "measured", b"aidos.facts"
"""The rows that are measured, and where the table says what they were measured on."""
LEAST_PAIRS = 5
"""Members below which nothing is called significant: a few equal differences look certain, and are not."""
SHIPPED, OWN = "model that comes along", "model"
SENSITIVITY = "sensitivity in the post"
"""The order that lists have by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureBasis(Basis):
    """What was measured on."""

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
    test: PairedTest
    """From the other to the one in question."""
    corrected: float
    """The p-value, corrected for the number of single features; as it is for other rankers."""

    @property
    def beaten(self) -> bool:
        """Whether the other one is significantly worse."""
        from aidos.studies.tables import LEVEL

        return self.test.difference > 0 and self.corrected < LEVEL and self.test.pairs >= LEAST_PAIRS


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExposureOutcome(Outcome):
    """All rankers on all members: a row for each, with its direction (-1: turned round) and every measure."""

    about: str = "the judged members"
    basis: ExposureBasis

    heading: ClassVar = "Which exposing queries are critical"
    says: ClassVar = "has every comparison"

    @classmethod
    def from_rows(cls, measured: pa.Table) -> Self:
        """From measured rows that say what they were measured on."""
        from aidos.core.jsontext import parse_json

        basis = ExposureBasis(**parse_json((measured.schema.metadata or {})[BASIS]))
        return cls(rows={KEPT: measured}, basis=basis)

    @cached_property
    def heads(self) -> tuple[tuple[Any, ...], ...]:
        """Names, kinds and directions of all rankers, that in question first."""
        import pyarrow.compute as pc

        firsts = self.rows[KEPT].filter(pc.field("member") == 0)
        return tuple(tuple(firsts[name].to_pylist()) for name in ("ranker", "kind", "direction"))

    @property
    def rankers(self) -> tuple[str, ...]:
        """Names, that in question first."""
        return self.heads[0]

    @property
    def kinds(self) -> tuple[RankerKind, ...]:
        """Of what kind each is."""
        return self.heads[1]

    @property
    def directions(self) -> tuple[int, ...]:
        """1 where more is worse, -1 where a feature ranks the other way round."""
        return self.heads[2]

    @cached_property
    def values(self) -> Floats:
        """Rankers by members by measures."""
        import numpy as np

        rows = self.rows[KEPT]
        return np.stack([rows[name].to_numpy().reshape(len(self.rankers), -1) for name in MEASURES], axis=2)

    def of(self, ranker: str, measure: str) -> Floats:
        """The values of one ranker by member."""
        if ranker not in self.rankers or measure not in MEASURES:
            raise InputError(f"{measure} of {ranker} was not measured", hint=f"measures are {', '.join(MEASURES)}")
        found: Floats = self.values[self.rankers.index(ranker), :, list(MEASURES).index(measure)]
        return found

    def mean(self, ranker: str, measure: str) -> float:
        """The mean over members."""
        import numpy as np

        return float(np.nanmean(self.of(ranker, measure)))

    def comparisons(self, measure: str, ranker: str = "") -> list[Comparison]:
        """A ranker, the first unless another is named, against every other one."""
        import numpy as np

        from aidos.studies.tables import holm, paired_test

        asked = ranker or self.rankers[0]
        others = [name for name in self.rankers if name != asked]
        first = self.of(asked, measure)
        tests = [paired_test(self.of(other, measure), first) for other in others]
        single = np.array([self._is_feature(other) for other in others])
        corrected = np.array([test.p for test in tests])
        corrected[single] = holm(corrected[single])
        return [
            Comparison(ranker=other, test=test, corrected=float(p))
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

    def shown(self, best: int = 5) -> list[str]:
        """The rankers that people read: no single feature but the best, and those of the thesis."""
        wanted = {*self.best_features(best), *THESIS}
        return [name for name in self.rankers if not self._is_feature(name) or name in wanted]

    def _is_feature(self, ranker: str) -> bool:
        return self.kinds[self.rankers.index(ranker)] == "feature"

    def summaries(self) -> dict[str, pa.Table]:
        """A row for each ranker and measure: mean, 95 % interval, and the comparison with the one in question."""
        from aidos.studies.tables import interval, table_of

        rows: list[dict[str, Any]] = []
        for measure in MEASURES:
            against = {one.ranker: one for one in self.comparisons(measure)}
            for ranker, kind, direction in zip(*self.heads, strict=True):
                head = {"ranker": ranker, "kind": kind, "direction": direction, "measure": measure}
                found = dict(zip(("mean", "low", "high", "members"), interval(self.of(ranker, measure)), strict=True))
                one = against.get(ranker)
                test = (one.test.difference, one.test.statistic, one.corrected, one.beaten) if one else (None,) * 4
                rows.append(head | found | dict(zip(("difference", "t", "p", "beaten"), test, strict=True)))
        return {"summary": table_of(rows)}

    def facts(self) -> Mapping[str, object]:
        """Means, comparisons and what they are of; nothing of single members."""
        basis = self.basis
        return {
            **self.place(),
            "about": basis.about,
            "members": basis.members,
            "members_left_out": basis.left_out,
            "rows": basis.rows,
            "critical_share": basis.critical,
            "topical_correlation": basis.topical_correlation,
            "kappa": basis.kappa,
            "unmatched": basis.unmatched,
            "unbeaten_features": {measure: self.unbeaten(measure) for measure in MEASURES},
            "rankers": self.told_rows()["summary"],
            "thesis": {ranker: dict(zip(MEASURES, told, strict=True)) for ranker, told in THESIS.items()},
            "note": NOTE,
        }

    def blocks(self) -> Sequence[Block]:
        """The rankers that people read."""
        from aidos.report.page import DataTable
        from aidos.studies.exposure.page import RANKER_COLUMNS, ranker_rows

        return (DataTable(caption=self.basis.about, columns=RANKER_COLUMNS, rows=tuple(ranker_rows(self))),)

    def remarks(self) -> Sequence[str]:
        """How many count, and how far judges agree."""
        basis = self.basis
        told = [f"{basis.members:,} members with {basis.rows:,} queries of different grades count"]
        if basis.unmatched:
            told.append(f"{basis.unmatched:,} judged queries return no post of their member and are left out")
        if basis.kappa is not None:
            told.append(f"agreement of the judges (Fleiss' kappa): {basis.kappa:.3f}")
        return (*told, *super().remarks())

    def chapters(self) -> list[Chapter]:
        """Numbers, rankers side by side, and the thesis."""
        from aidos.studies.exposure.page import exposure_chapters

        return exposure_chapters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureStudy(OnWorld):
    """Measure how well critical queries are found, against judgements or the sample world's truth.

    Precision, NDCG and Kendall's tau of the ranker and of every single
    feature, member by member, with paired t-tests. Without judgements the
    sample world is made, where the truth is known and the signals simulated.
    What is computed is kept in the directory and not done again.

    For example:
        aidos evaluate exposure -o results
        aidos evaluate exposure --size 5000 --seed 3 -o results
        aidos evaluate exposure --in exposure --judgements judged.csv -o results
    """

    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The directory for results: a summary and a page."""
    judgements: Path | None = None
    """Judged queries: author_id, query, judge, relevance, and post_id where a post was in view."""
    directory: Annotated[Path | None, Named("--in")] = None
    """The directory that `aidos expose compute` wrote, for judgements."""
    model: Path | None = None
    """A model that `aidos expose train` wrote; the bundled one, trained on seed 1, if unset."""
    seed: Annotated[int, Ge(0), SEED] = 23
    """Of the sample world."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if (self.judgements is None) != (self.directory is None):
            raise ParameterError(
                "judgements and the directory they are about go together", hint="give both --in and --judgements"
            )

    def run(self, desk: Desk) -> ExposureOutcome:
        """Against judges where there are some, against the world's truth where not."""
        found = self._sampled(desk) if self.judgements is None else self._judged(desk)
        return replace(found, asked=desk.asked).kept()

    def _judged(self, desk: Desk) -> ExposureOutcome:
        from aidos.rooms.exposure.queries.store import ExposureStore
        from aidos.studies.exposure.judged import judged_experiment, read_judgements

        if self.output is not None and (self.output / f"{KEPT}.parquet").exists():
            raise ParameterError(
                f"{self.output} holds an experiment on the sample world", hint="choose another directory"
            )
        store = ExposureStore.open(Path(str(self.directory)))
        judged = read_judgements(str(self.judgements))
        found = judged_experiment(store, judged, self._models(), progress=desk.progress)
        return replace(found, output=self.output, synthetic=False)

    def _sampled(self, desk: Desk) -> ExposureOutcome:
        from aidos.rooms.exposure.queries.settings import MEMORY
        from aidos.studies.exposure.experiment import sample_experiment
        from aidos.world.size import World

        return sample_experiment(
            World(size=self.size, seed=self.seed),
            models=self._models(),
            output=self.output,
            memory=desk.memory or MEMORY,
            threads=desk.threads,
            progress=desk.progress,
        )

    def _models(self) -> dict[str, CriticalityModel]:
        from aidos.rooms.exposure.critical.model import CriticalityModel

        return {SHIPPED: CriticalityModel.default()} if self.model is None else {OWN: CriticalityModel.load(self.model)}
