"""Why a query stands where it stands, in words a member understands.

What a feature adds to a score is compared with what it adds on average over the member's own queries. The list is hers
alone, so what all her queries share (say, that she rarely writes) explains nothing about their order; against the mean
of the training data it would be named every time. What remains sums to how far the query is above or below her average
one. The largest parts are told, upwards and downwards, each as half a sentence.

A reason says what moved the score. It is not the reason why anybody would mind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.exposure.critical.features import DESCRIBED
from aidos.exposure.critical.model import Ranker

__all__ = ["MOST_REASONS", "Reason", "Reasons", "reasons"]

Floats = NDArray[np.float64]

MOST_REASONS = 3
NEGLIGIBLE = 0.05
"""Parts below this share of the largest part of the row are not worth a word."""
WORDS = {feature.name: feature for feature in DESCRIBED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One feature's part in a place."""

    feature: str
    """Its name."""
    words: str
    """What it says about the query or the post."""
    part: float
    """What it adds to the score, beyond the average of the member's queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """What moved one query most."""

    up: tuple[Reason, ...]
    """What makes it more critical, the strongest first."""
    down: tuple[Reason, ...]
    """What makes it less so, the strongest first."""

    def sentence(self) -> str:
        """What speaks for it in one sentence; that nothing stands out, where nothing does."""
        if not self.up:
            return "Nothing stands out: it is much like your other queries."
        words = "; ".join(reason.words for reason in self.up)
        return f"{words[0].upper()}{words[1:]}."


def reasons(ranker: Ranker, matrix: Floats, own: Floats, *, most: int = MOST_REASONS) -> list[Reasons]:
    """For each row of a feature matrix; ``own`` holds the features of the member's rows, or of a sample of them."""
    if most < 1 or not len(own):
        raise ParameterError("give at least one row to compare with, and ask for at least one reason")
    parts = ranker.contributions(matrix) - ranker.contributions(own).mean(axis=0)
    above = matrix > own.mean(axis=0)
    return [_told(ranker.features, parts[row], above[row], most) for row in range(len(matrix))]


def _told(features: tuple[str, ...], parts: Floats, above: NDArray[np.bool_], most: int) -> Reasons:
    least = NEGLIGIBLE * float(np.abs(parts).max(initial=0.0))

    def strongest(signed: Floats, sign: int) -> tuple[Reason, ...]:
        places = np.argsort(-signed, kind="stable")[:most]
        return tuple(
            Reason(feature=features[place], words=_words(features[place], high=bool(above[place])), part=sign * value)
            for place, value in zip(places.tolist(), signed[places].tolist(), strict=True)
            if value > 0 and value >= least
        )

    return Reasons(up=strongest(parts, 1), down=strongest(-parts, -1))


def _words(feature: str, *, high: bool) -> str:
    described = WORDS[feature]
    return described.high if high else described.low
