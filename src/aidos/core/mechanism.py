"""The shape of every mechanism, and of what leaves aidos.

A `Release` carries a guarantee and may leave the building. A `Finding` holds truth about people and may not:
public surfaces take releases in their signatures, so that a leak is a type error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from aidos.core.guarantee import Guarantee
from aidos.core.noise import Noise

__all__ = ["Finding", "Mechanism", "PublicFacts", "Release"]

In = TypeVar("In", contravariant=True)
Out = TypeVar("Out", covariant=True)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFacts:
    """What everybody may know about the data; a guarantee may depend on it, and on nothing else of the data."""

    people: int | None = None
    """How many people are in the data, where that number is public."""
    vouched: str = ""
    """What the owner vouches for about the files, where the promise rests on that."""


class Mechanism(Protocol[In, Out]):
    """Parameters that know what they promise and how to run: a frozen dataclass, checked when it is made."""

    def guarantee(self, facts: PublicFacts) -> Guarantee:
        """The promise, from the parameters and public facts alone."""
        ...

    def run(self, data: In, noise: Noise) -> Out:
        """The one place where data and randomness meet."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Generic[Value]):
    """A value that may leave the building, with its promise attached."""

    value: Value
    guarantee: Guarantee
    mechanism: object
    noise_source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Generic[Value]):
    """A value that holds truth about people: for the one who asked, not for release."""

    value: Value
    about: str
    """Whose truth it holds, in a few words: "the people of the log", "one member"."""
