"""From relevance to shares of it, and from relevance to what a result adds to DCG: two scales that are kept apart.

Fairness compares attention with relevance normalised to sum 1 over the ranking, since attention does so too. Quality
is DCG, whose gain 2^relevance - 1 depends on the scale of relevance. The equity-of-attention paper puts the normalised
relevance there, where the gain is nearly linear; that is the default. On raw ratings of 0 to 100 the gain would double
with every point and one rating point would decide everything, so no such scale is offered.
"""

from __future__ import annotations

from enum import StrEnum
from math import inf, log
from typing import assert_never

import numpy as np

from aidos.errors import InputError, ParameterError
from aidos.rooms.fairness.rankings import Floats

__all__ = ["Gain", "gains", "normalise"]

LOG_2 = log(2)


class Gain(StrEnum):
    """What a subject's relevance is worth in DCG."""

    PAPER = "paper"
    """2^r - 1 with r normalised to sum 1 over the ranking."""
    LINEAR = "linear"
    """Relevance as a share of the top of the scale."""
    EXPONENTIAL_1 = "exponential-1"
    """2^r - 1 with r from 0 to 1 at the top of the scale."""
    EXPONENTIAL_5 = "exponential-5"
    """2^r - 1 with r from 0 to 5 at the top of the scale, as with grades of judges."""


def normalise(relevance: Floats) -> Floats:
    """Relevance divided by its sum."""
    total = float(relevance.sum())
    if not 0 < total < inf:
        raise InputError(
            "relevance does not sum to a positive, finite number",
            hint="relevance is a finite number, not negative, and above 0 for at least one subject",
        )
    shares: Floats = relevance / total
    return shares


def gains(relevance: Floats, gain: Gain | str = Gain.PAPER, top: float | None = None) -> Floats:
    """What each subject adds to DCG before the discount of its position.

    ``top`` is the top of the scale of relevance: the ranking's largest unless given. The paper's gain has no scale.
    """
    match _known(gain):
        case Gain.PAPER:
            if top is not None:
                raise ParameterError("the paper's gain has no top of the scale", hint="leave it out, or take linear")
            return _exponential(normalise(relevance), 1)
        case Gain.LINEAR:
            return _graded(relevance, top)
        case Gain.EXPONENTIAL_1:
            return _exponential(_graded(relevance, top), 1)
        case Gain.EXPONENTIAL_5:
            return _exponential(_graded(relevance, top), 5)
        case unknown:
            assert_never(unknown)


def _exponential(grades: Floats, largest: int) -> Floats:
    """2^(largest * grade) - 1, in the memory of the grades."""
    grades *= largest * LOG_2
    return np.expm1(grades, out=grades)


def _graded(relevance: Floats, top: float | None) -> Floats:
    """Relevance from 0 to 1 at the top of the scale."""
    largest = float(relevance.max(initial=0.0))
    if top is not None and not 0 < top < inf:
        raise ParameterError(f"the top of the scale must be finite and greater than 0, got {top}")
    if top is not None and largest > top:
        above = int((relevance > top).sum())
        raise InputError(
            f"the relevance of {above} of {len(relevance)} subjects is above the top of the scale, {top:g}",
            hint="give the top of the scale that relevance is measured on, or leave it out",
        )
    scale = largest if top is None else top
    if not 0 < scale < inf:
        raise InputError("no relevance is above 0 and finite", hint="one subject at least must be relevant")
    grades: Floats = relevance / scale
    return grades


def _known(gain: Gain | str) -> Gain:
    try:
        return Gain(gain)
    except ValueError:
        raise ParameterError(f"no gain is called {gain!r}", hint=f"there are {', '.join(Gain)}") from None
