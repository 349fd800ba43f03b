"""What a result promises, and to whom.

A guarantee is a frozen value computed from parameters and public facts, never from data. The union is sealed:
whoever interprets guarantees matches every kind and ends with ``assert_never``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import exp
from typing import assert_never

__all__ = [
    "PERSON",
    "ApproxDP",
    "Guarantee",
    "KAnonymity",
    "Neighbours",
    "NoGuarantee",
    "ProbabilisticDP",
    "PureDP",
    "QualityFloor",
    "Unit",
    "ZeroConcentratedDP",
    "statement",
]


class Neighbours(StrEnum):
    """Which two data sets must be hard to tell apart."""

    ADD_OR_REMOVE_ONE = "add-or-remove-one"
    """One unit is in the data or not; the convention of most current tools."""
    REPLACE_ONE = "replace-one"
    """One unit's rows are replaced by any others; the number of units is public."""

    def verb(self) -> str:
        """The subject of a sentence about it."""
        return "Adding or removing" if self is Neighbours.ADD_OR_REMOVE_ONE else "Replacing all the data of"


@dataclass(frozen=True, slots=True)
class Unit:
    """Whose presence is protected: every row with the same value of ``column``."""

    noun: str
    column: str


PERSON = Unit("person", "client_id")
"""The unit of protection of a search log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PureDP:
    """Differential privacy: no output becomes more likely by more than a factor e^epsilon."""

    epsilon: float
    unit: Unit = PERSON
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproxDP:
    """Approximate differential privacy, also called (epsilon, delta)-indistinguishability."""

    epsilon: float
    delta: float
    unit: Unit = PERSON
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilisticDP:
    """Pure differential privacy outside a set of outputs of probability at most delta; implies ApproxDP."""

    epsilon: float
    delta: float
    unit: Unit = PERSON
    neighbours: Neighbours = Neighbours.REPLACE_ONE


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroConcentratedDP:
    """Zero-concentrated differential privacy: what Gaussian noise gives, and what composes best."""

    rho: float
    unit: Unit = PERSON
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE


@dataclass(frozen=True, slots=True, kw_only=True)
class KAnonymity:
    """Each released value is shared by k units. It falls to an attacker who adds data of her own."""

    k: int
    unit: Unit = PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityFloor:
    """Every ranking keeps a share of the original's quality. It says nothing about privacy."""

    measure: str
    at_least: float


@dataclass(frozen=True, slots=True)
class NoGuarantee:
    """Nothing is promised, and why."""

    reason: str


Guarantee = PureDP | ApproxDP | ProbabilisticDP | ZeroConcentratedDP | KAnonymity | QualityFloor | NoGuarantee


def statement(guarantee: Guarantee) -> str:
    """One sentence that a reader without mathematics can act on."""
    match guarantee:
        case PureDP(epsilon=epsilon, unit=unit, neighbours=neighbours):
            return f"{_change(unit, neighbours)} {_factor(epsilon)}."
        case ApproxDP(epsilon=epsilon, delta=delta, unit=unit, neighbours=neighbours):
            return f"{_change(unit, neighbours)} {_factor(epsilon)}, plus at most {delta:g} in probability."
        case ProbabilisticDP(epsilon=epsilon, delta=delta, unit=unit, neighbours=neighbours):
            return f"Except with probability {delta:g}: {_change(unit, neighbours).lower()} {_factor(epsilon)}."
        case ZeroConcentratedDP(rho=rho, unit=unit, neighbours=neighbours):
            return f"{_change(unit, neighbours)} by little: zero-concentrated divergence at most {rho:g}."
        case KAnonymity(k=k, unit=unit):
            sharers = f"{unit.noun}s ({unit.column})"
            return f"At least {k} {sharers} share every released value; an attacker who can add data defeats it."
        case QualityFloor(measure=measure, at_least=at_least):
            return f"Every ranking keeps at least {at_least:.0%} of the original's {measure}."
        case NoGuarantee(reason=reason):
            return f"No guarantee: {reason}."
        case _:
            assert_never(guarantee)


def _change(unit: Unit, neighbours: Neighbours) -> str:
    return f"{neighbours.verb()} one {unit.noun} ({unit.column}) changes the chance of any output"


def _factor(epsilon: float) -> str:
    return f"by at most a factor of {exp(epsilon):.3g} (epsilon = {epsilon:g})"
