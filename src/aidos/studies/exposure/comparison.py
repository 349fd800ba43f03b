"""Many rankers on the same rows: each member's list under each of them, measured against her grades."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.errors import InputError
from aidos.rooms.exposure.critical.features import FEATURES
from aidos.rooms.exposure.critical.teaching import Rows
from aidos.studies.exposure.study import BASIS, MEASURES, ExposureBasis, ExposureOutcome, RankerKind
from aidos.studies.tables import correlation

__all__ = ["Graded", "Scored", "compare", "measure_all"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
SHALLOW, DEEP = 10, 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Graded:
    """How critical each row is, and who says so."""

    grades: Floats
    about: str
    """The community and the source of the grades, in words."""
    kappa: float | None = None
    """Agreement of the judges; None where nobody judged."""
    unmatched: int = 0
    """Judged queries that are not among the rows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """A ranker's scores of all rows; more is more critical."""

    kind: RankerKind
    scores: Floats


def compare(
    rows: Rows, graded: Graded, rankers: Mapping[str, Scored], *, progress: Progress = SILENT
) -> ExposureOutcome:
    """Measure the rankers (that in question first) and every single feature on members whose grades differ."""
    grades = graded.grades
    members = rows.by_member()
    counting = [places for places in members if np.ptp(grades[places]) > 0]
    if not counting:
        raise InputError(
            "no member has queries of different grades, so rankers cannot be told apart",
            hint="judge more queries of each member, or take a larger world",
        )
    singles: list[RankerKind] = ["feature"] * len(FEATURES)
    kinds = [*(one.kind for one in rankers.values()), *singles]
    scores = np.column_stack([*(one.scores for one in rankers.values()), rows.matrix])
    upward, downward = np.empty((2, len(kinds), len(counting), len(MEASURES)))
    with progress.task("measuring rankers", total=len(counting), unit="members") as task:
        for at, places in enumerate(counting):
            upward[:, at] = measure_all(scores[places], grades[places])
            downward[:, at] = measure_all(-scores[places], grades[places])
            task.advance(1)
    deep = list(MEASURES).index("ndcg_20")
    turned = (downward[:, :, deep].mean(axis=1) > upward[:, :, deep].mean(axis=1)) & (np.array(kinds) == "feature")
    values = np.where(turned[:, None, None], downward, upward)
    counted = np.concatenate(counting)
    basis = ExposureBasis(
        about=graded.about,
        members=len(counting),
        left_out=len(members) - len(counting),
        rows=len(counted),
        critical=float((grades[counted] > 0).mean()),
        topical_correlation=correlation(rows.matrix[:, FEATURES.index("topical_sensitivity")], grades),
        kappa=graded.kappa,
        unmatched=graded.unmatched,
    )
    heads = {"ranker": (*rankers, *FEATURES), "kind": kinds, "direction": np.where(turned, -1, 1)}
    columns = {name: np.repeat(np.array(given), len(counting)) for name, given in heads.items()}
    columns["member"] = np.tile(np.arange(len(counting)), len(kinds))
    columns |= {name: values[:, :, at].reshape(-1) for at, name in enumerate(MEASURES)}
    return ExposureOutcome.from_rows(pa.table(columns).replace_schema_metadata({BASIS: json.dumps(asdict(basis))}))


def measure_all(scores: Floats, grades: Floats) -> Floats:
    """Rankers by measures, for all columns of scores at once.

    Scores of rankers tie often (many features are 0 or 1), so what is given is the mean over all orders of the tied
    queries (McSherry and Najork 2008): no order of the rows helps or harms. The gain of NDCG is 2^grade - 1 and its
    discount log2(1 + position), as in the thesis (equation 4.4). For Kendall's tau a list has an order, whatever tied
    in the scores: ties count as 0 and do not make the divisor smaller. Otherwise a ranker that ties nearly everything
    would gain by saying nothing.
    """
    number, rankers = scores.shape
    order = np.argsort(-scores, axis=0, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=0)
    begins = np.ones((number, rankers), dtype=np.int64)
    begins[1:] = ranked[1:] != ranked[:-1]
    # Tied queries of a ranker are one group; groups of all rankers are numbered through.
    groups = (np.cumsum(begins, axis=0) - 1 + np.arange(rankers) * number).reshape(-1)
    sizes = np.bincount(groups, minlength=number * rankers)
    given = grades[order]
    positions = np.arange(1, number + 1)
    discounts = 1.0 / np.log2(positions + 1)
    gains = np.exp2(given) - 1.0
    values = np.empty((rankers, len(MEASURES)))
    for at, depth in enumerate((SHALLOW, DEEP)):
        within = positions <= depth
        values[:, at] = _summed(given > 0, within / depth, groups, sizes)
        best = np.sort(np.exp2(grades) - 1.0)[::-1][:depth] @ discounts[:depth]
        values[:, 2 + at] = _summed(gains, within * discounts, groups, sizes) / best
    values[:, 4] = _kendall(given, begins.astype(np.bool_))
    return values


def _summed(gains: NDArray[Any], weights: Floats, groups: Places, sizes: Places) -> Floats:
    """For each ranker the gains times the weights of their positions, those of tied queries being evened out."""
    number, rankers = gains.shape
    total = np.bincount(groups, weights=np.repeat(weights, rankers), minlength=len(sizes))
    summed: Floats = (gains.reshape(-1) * (total / np.maximum(sizes, 1))[groups]).reshape(number, rankers).sum(axis=0)
    return summed


def _kendall(given: Floats, begins: NDArray[np.bool_]) -> Floats:
    """Kendall's tau-b of each column of grades, in the order of the scores; ``begins`` marks where ties begin."""
    number, rankers = given.shape
    places = np.arange(number)[:, None]
    start = np.maximum.accumulate(np.where(begins, places, 0), axis=0)
    ends = np.concatenate([begins[1:], np.ones((1, rankers), dtype=np.bool_)])
    end = np.minimum.accumulate(np.where(ends, places + 1, number)[::-1], axis=0)[::-1]
    levels, times = np.unique(given[:, 0], return_counts=True)
    ahead = np.zeros(rankers)
    for level in levels[:-1]:
        before = np.concatenate([np.zeros((1, rankers)), np.cumsum(given == level, axis=0)])
        # Queries of this level behind, less those in front, for every query of a higher one.
        lead = before[-1] - np.take_along_axis(before, end, axis=0) - np.take_along_axis(before, start, axis=0)
        ahead += np.where(given > level, lead, 0).sum(axis=0)
    pairs = number * (number - 1) / 2
    tau: Floats = ahead / np.sqrt(pairs * (pairs - (times * (times - 1) / 2).sum()))
    return tau
