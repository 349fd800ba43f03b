"""The non-linear option: trees trained by LambdaRank (Burges 2010), through LightGBM.

Trees can learn that a rare word matters only in a post unlike the others. In exchange no weights can be read, only
what each feature added to one score (Shapley values). LambdaRank wants grades, so targets become five, cut so that a
fifth of the known rows has each. It is slower than the linear ranker, and needs more data to be better.
The same seed gives the same model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.core.jsontext import parse_json
from aidos.engine.files import write_text
from aidos.engine.inputs import read_text
from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.rooms.exposure.critical.features import FEATURES
from aidos.rooms.exposure.critical.learner import CrossValidation, cross_validate, draw_pairs
from aidos.rooms.exposure.critical.model import VERSION

__all__ = ["TREES_KIND", "TrainedTrees", "TreeModel", "train_trees"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

TREES_KIND = "aidos criticality trees"
GRADES = 5
TREES = 100
ROWS_PER_MEMBER = 1000
"""Rows that are drawn from a member: the gradient takes the square of it in time, and LightGBM refuses 10,000."""
PAIRS_PER_MEMBER = 200
SETTINGS = {
    "objective": "lambdarank",
    "learning_rate": 0.1,
    "num_leaves": 15,
    "min_data_in_leaf": 20,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeModel:
    """A ranker made of trees."""

    features: tuple[str, ...]
    """Names of the features, in the order of the columns of a matrix."""
    trees: str = field(repr=False)
    """LightGBM's own text for them: thresholds of features, and no word of anybody."""
    about: str = ""
    """What its target was, in words."""
    trained_on: str = ""
    """Which community it was trained on."""

    def score(self, matrix: Floats) -> Floats:
        """How critical each row is: larger is worse."""
        scores: Floats = np.asarray(self._booster().predict(matrix, num_threads=1), dtype=np.float64)
        return scores

    def contributions(self, matrix: Floats) -> Floats:
        """What each feature adds to the score of each row (Shapley values); the score is their sum and a constant."""
        found: Floats = np.asarray(self._booster().predict(matrix, pred_contrib=True, num_threads=1), dtype=np.float64)
        return found[:, :-1]

    def save(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        facts = {"kind": TREES_KIND, "version": VERSION, "about": self.about, "trained_on": self.trained_on}
        facts |= {"features": list(self.features), "trees": self.trees}
        write_text(path, json.dumps(facts, indent=1) + "\n")

    @staticmethod
    def load(path: Path, *, features: tuple[str, ...] = FEATURES) -> TreeModel:
        """Read a model that was saved; it must be for these features."""
        try:
            found = parse_json(read_text(path, hint="give a model that was saved"))
        except ValueError as error:
            raise InputError(f"{path}: it cannot be read as JSON", hint="give a model that was saved") from error
        expected = {"kind": TREES_KIND, "version": VERSION, "features": list(features)}
        if not isinstance(found, dict) or {name: found.get(name) for name in expected} != expected:
            raise InputError(
                f"{path}: it holds no trees of this version and these features",
                hint="train it again with this version of aidos",
            )
        return TreeModel(
            features=features,
            trees=str(found.get("trees", "")),
            about=str(found.get("about", "")),
            trained_on=str(found.get("trained_on", "")),
        )

    def _booster(self) -> Any:
        package = _package()
        try:
            return package.Booster(model_str=self.trees)
        except package.basic.LightGBMError as error:
            raise InputError(
                "the trees of the model are damaged", hint="train it again with this version of aidos"
            ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedTrees:
    """Trees, and how well they did on members they had not seen."""

    model: TreeModel
    validation: CrossValidation


def train_trees(  # noqa: PLR0913 (what to learn from, how, and what to write into the model)
    groups: Longs,
    matrix: Floats,
    targets: Floats,
    *,
    seed: int = 0,
    folds: int = 10,
    features: tuple[str, ...] = FEATURES,
    about: str = "",
    trained_on: str = "",
) -> TrainedTrees:
    """Learn to order the rows of each group (a member) by their targets; rows with NaN are left out."""
    if not len(groups) == len(matrix) == len(targets) or matrix.shape[1:] != (len(features),):
        raise ParameterError("give one group, one row of all features and one target a row")
    _package()
    from scipy.sparse import csr_array

    pairs = draw_pairs(groups, targets, most=PAIRS_PER_MEMBER, seed=seed)
    if len(pairs.names) < max(folds, 2) or folds < 2:
        raise InputError(
            f"only {len(pairs.names)} members have rows with different targets, {max(folds, 2)} are needed",
            hint="give more members, or fewer folds",
        )
    grades = _grades(targets)

    def leads(training: Longs) -> Floats:
        rows = np.flatnonzero(np.isin(groups, pairs.names[training]) & (grades >= 0))
        scores = _grow(groups[rows], matrix[rows], grades[rows], seed).predict(matrix, num_threads=1)
        ahead: Floats = scores[pairs.better] - scores[pairs.worse]
        return ahead

    order = np.random.default_rng([seed, 1]).permutation(len(pairs.names))
    rows = csr_array(matrix)
    differences = (rows[pairs.better] - rows[pairs.worse]).tocsr()
    validation = cross_validate(pairs, differences, order, folds=folds, features=features, fit=leads)
    known = np.flatnonzero(grades >= 0)
    text = _grow(groups[known], matrix[known], grades[known], seed).model_to_string()
    return TrainedTrees(
        model=TreeModel(features=features, trees=text, about=about, trained_on=trained_on), validation=validation
    )


def _grades(targets: Floats) -> Longs:
    """Which fifth of the known targets each is in, the largest 4; -1 where it is not known."""
    known = np.isfinite(targets)
    cuts = np.unique(np.quantile(targets[known], np.arange(1, GRADES) / GRADES)) if known.any() else np.zeros(0)
    # Equal targets have equal grades, and a target at a cut is above it only if something lies below.
    grades = np.searchsorted(cuts, np.where(known, targets, 0.0), side="left")
    if known.any() and len(cuts) and targets[known].max() == cuts[-1]:
        grades = np.searchsorted(cuts, np.where(known, targets, 0.0), side="right")
    return np.where(known, grades, -1).astype(np.int64)


def _grow(groups: Longs, matrix: Floats, grades: Longs, seed: int) -> Any:
    """Trees for rows of some members, at most so many rows each."""
    package = _package()
    shuffled = np.random.default_rng([seed, 2]).permutation(len(groups))
    order = shuffled[np.argsort(groups[shuffled], kind="stable")]
    _, starts, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    within = np.arange(len(order)) - np.repeat(starts, sizes)
    rows = order[within < ROWS_PER_MEMBER]
    data = package.Dataset(matrix[rows], label=grades[rows], group=np.minimum(sizes, ROWS_PER_MEMBER))
    return package.train({**SETTINGS, "seed": seed}, data, num_boost_round=TREES)


def _package() -> Any:
    try:
        return import_module("lightgbm")  # an extra
    except ImportError:
        raise MissingExtraError("ranking by trees", extra="lambdarank") from None
