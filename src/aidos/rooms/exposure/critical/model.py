"""A ranker of exposing queries that can be read, printed, saved and questioned: one weight for each feature.

    score = sum over features of  weight * (value - mean) / deviation

with means and deviations of what it was trained on, so that weights compare. Scores order the queries of one member;
they say nothing between members and are no probabilities. A model holds names of features and numbers: no word, post
or name of anybody. It is a JSON file, and what is not such a file, of this version and these features, is refused.

The model that comes along was trained on the sample world, where people and their posts are made up. It is there for
who has no signals of their own, and it knows what that world was made to know.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aidos.core.jsontext import parse_json
from aidos.engine.files import write_text
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError
from aidos.rooms.exposure.critical.features import FEATURES

__all__ = ["KIND", "VERSION", "CriticalityModel", "Ranker"]

Floats = NDArray[np.float64]

KIND = "aidos criticality model"
VERSION = 1
"""Rises when a feature or the meaning of a number changes."""
DEFAULT = "default.json"
RETRAIN = "train it again with this version of aidos"


class Ranker(Protocol):
    """What orders rows and says why."""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns it expects."""

    def score(self, matrix: Floats) -> Floats:
        """How critical each row is: larger is worse."""

    def contributions(self, matrix: Floats) -> Floats:
        """What each feature adds to the score of each row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalityModel:
    """A linear ranker."""

    features: tuple[str, ...]
    """Names of the features, in the order of the columns of a matrix."""
    weights: tuple[float, ...]
    """What one deviation of a feature adds to the score."""
    means: tuple[float, ...]
    """Of the rows it was trained on."""
    deviations: tuple[float, ...]
    """Of the same; 1 for a feature that never changed."""
    about: str = ""
    """What its target was, in words."""
    trained_on: str = ""
    """Which community it was trained on."""

    def __post_init__(self) -> None:
        numbers = (self.weights, self.means, self.deviations)
        problems = []
        if len(set(self.features)) != len(self.features):
            problems.append("features must differ")
        if any(len(values) != len(self.features) for values in numbers):
            problems.append("weights, means and deviations must be as many as the features")
        if not all(np.isfinite(values).all() for values in numbers):
            problems.append("weights, means and deviations must be finite numbers")
        elif any(value <= 0 for value in self.deviations):
            problems.append("deviations must be greater than 0")
        if problems:
            raise ParameterError(f"CriticalityModel: {'; '.join(problems)}")

    @staticmethod
    def default() -> CriticalityModel:
        """The model that comes along, trained on the sample world."""
        text = files("aidos.rooms.exposure.critical").joinpath(DEFAULT).read_text(encoding="utf-8")
        return _parsed(text, "the model that comes with aidos", FEATURES)

    @staticmethod
    def load(path: Path, *, features: tuple[str, ...] = FEATURES) -> CriticalityModel:
        """Read a model that was saved; it must be for these features."""
        return _parsed(read_text(path, hint="give a model that was saved"), str(path), features)

    def save(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        write_text(path, self.to_json())

    def to_json(self) -> str:
        """The text of its file: one line a feature, so that versions can be compared."""
        head = {"kind": KIND, "version": VERSION, "about": self.about, "trained_on": self.trained_on}
        rows = zip(self.features, self.weights, self.means, self.deviations, strict=True)
        lines = ",\n    ".join(
            json.dumps({"feature": name, "weight": weight, "mean": mean, "deviation": deviation})
            for name, weight, mean, deviation in rows
        )
        return json.dumps(head, indent=2)[:-2] + f',\n  "features": [\n    {lines}\n  ]\n}}\n'

    def score(self, matrix: Floats) -> Floats:
        """How critical each row is: larger is worse."""
        self._check(matrix)
        scale = np.array(self.weights) / np.array(self.deviations)
        scores: Floats = matrix @ scale - float(np.array(self.means) @ scale)
        return scores

    def contributions(self, matrix: Floats) -> Floats:
        """What each feature adds to the score of each row; the columns add up to the score."""
        self._check(matrix)
        added: Floats = (matrix - np.array(self.means)) * (np.array(self.weights) / np.array(self.deviations))
        return added

    def importance(self) -> list[tuple[str, float]]:
        """Features with their weights, the largest in size first; equal ones in their order."""
        pairs = list(zip(self.features, self.weights, strict=True))
        return sorted(pairs, key=lambda pair: -abs(pair[1]))

    def _check(self, matrix: Floats) -> None:
        if matrix.ndim != 2 or matrix.shape[1] != len(self.features):
            raise ParameterError(
                f"the model is for {len(self.features)} features, the matrix is {' by '.join(map(str, matrix.shape))}"
            )


def _parsed(text: str, where: str, features: tuple[str, ...]) -> CriticalityModel:
    """A model from the text of its file."""
    found = _facts(text, where)
    try:
        rows = [(str(row["feature"]), row["weight"], row["mean"], row["deviation"]) for row in found["features"]]
        numbers = np.array([values for _, *values in rows], dtype=np.float64).reshape(len(rows), 3).T.tolist()
        model = CriticalityModel(
            features=tuple(name for name, *_ in rows),
            weights=tuple(numbers[0]),
            means=tuple(numbers[1]),
            deviations=tuple(numbers[2]),
            about=str(found["about"]),
            trained_on=str(found["trained_on"]),
        )
    except (KeyError, TypeError, ValueError, ParameterError) as error:
        raise InputError(f"{where}: the model is damaged", hint=RETRAIN) from error
    if model.features != features:
        missing, strange = len(set(features) - set(model.features)), len(set(model.features) - set(features))
        differs = f"{missing} are missing, {strange} are not known" if missing or strange else "their order differs"
        raise InputError(f"{where}: the model is for other features ({differs})", hint=RETRAIN)
    return model


def _facts(text: str, where: str) -> dict[str, Any]:
    """A file of this kind and version, or an error that says what it is instead."""
    try:
        found = parse_json(text)
    except ValueError as error:
        raise InputError(f"{where}: it is no JSON file", hint="give a model that was saved") from error
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise InputError(f"{where}: it is no criticality model", hint="give a model that was saved")
    if found.get("version") != VERSION:
        raise InputError(f"{where}: the model is of another version, this aidos reads {VERSION}", hint=RETRAIN)
    return found
