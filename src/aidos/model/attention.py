"""How much attention each position of a ranking gets: position bias as values that can be printed, parsed and compared.

A model is a frozen value with a canonical text, such as ``geometric:share=0.5,positions=5``. Its weights are the shares
of the attention that one ranking has to give: they sum to 1, and positions beyond the last get nothing. Where a ranking
is shorter than the model, its positions share everything.

The geometric and the singular model are those of the equity-of-attention paper; discounted follows DCG, rank-biased
precision and the cascade follow the click models of the same names, and measured takes click-through rates as they are.
None of them promises to describe the searchers of a system: where clicks were measured without bias, use those.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from operator import index
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from aidos.core.checks import check_parameters, did_you_mean, read_parameters
from aidos.errors import ParameterError

__all__ = ["Attention", "Cascade", "Discounted", "Geometric", "Measured", "RankBiased", "Singular", "find_attention"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spelled:
    """A model written name:parameter=value,..., where ``positions`` is a whole number and all else is a float."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        # One type per parameter, whatever was given, so that equal models have equal texts; then the limits.
        for field in fields(self):
            settled = _settle(field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, settled)
        check_parameters(self)

    def __str__(self) -> str:
        return f"{self.name}:" + ",".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometric(_Spelled):
    """Each position gets a fixed share of what the positions before it left over: p (1-p)^(j-1) for j <= k."""

    name: ClassVar[str] = "geometric"

    share: Annotated[float, Gt(0), Le(1)] = 0.5
    """What a position takes of the attention that is left (p)."""
    positions: Annotated[int, Ge(1)] = 5
    """How many positions get any (k)."""

    def weights(self, grades: Floats) -> Floats:
        """Shares of the first positions; of the grades only their number counts."""
        return _shares((1 - self.share) ** _places(self.positions, grades))

    def about(self) -> str:
        """One sentence for a report."""
        return f"Each of the first {self.positions} positions takes {self.share:.3g} of the attention that is left."


@dataclass(frozen=True, slots=True, kw_only=True)
class Singular:
    """All attention on the first position."""

    name: ClassVar[str] = "singular"
    positions: ClassVar[int] = 1

    def weights(self, grades: Floats) -> Floats:
        """1 for the first position."""
        return np.ones(min(1, len(grades)))

    def about(self) -> str:
        """One sentence for a report."""
        return "The first position gets all the attention."

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Discounted(_Spelled):
    """The discount of DCG: 1 / log2(1 + j) for j <= k."""

    name: ClassVar[str] = "dcg"

    positions: Annotated[int, Ge(1)] = 10
    """How many positions get any (k)."""

    def weights(self, grades: Floats) -> Floats:
        """Shares of the first positions; of the grades only their number counts."""
        return _shares(1 / np.log2(2 + _places(self.positions, grades)))

    def about(self) -> str:
        """One sentence for a report."""
        return f"Attention falls with the logarithm of the position, over {self.positions} positions, as in DCG."


@dataclass(frozen=True, slots=True, kw_only=True)
class RankBiased(_Spelled):
    """The searcher of rank-biased precision goes on to the next result with a fixed chance: p^(j-1) for j <= k.

    It is the geometric model with a share of 1 - persistence; people know the two by different names.
    """

    name: ClassVar[str] = "rbp"

    persistence: Annotated[float, Gt(0), Le(1)] = 0.8
    """Chance to go on to the next result (p)."""
    positions: Annotated[int, Ge(1)] = 10
    """How many positions get any (k)."""

    def weights(self, grades: Floats) -> Floats:
        """Shares of the first positions; of the grades only their number counts."""
        return _shares(self.persistence ** _places(self.positions, grades))

    def about(self) -> str:
        """One sentence for a report."""
        return f"A searcher goes on to the next of {self.positions} positions with probability {self.persistence:.3g}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade(_Spelled):
    """A searcher reads from the top and stops at what satisfies her, so good results shade those below.

    She stops at a result with probability stop * grade, where grade = relevance / largest relevance. Position j gets
    persistence^(j-1) * product over i < j of (1 - stop * grade_i).

    The weights are computed on the order by relevance and kept for the reordered list. That is an approximation: a less
    relevant result that moves up lets more searchers pass than is counted here. It is exact where only subjects of
    equal relevance change places above the last position with attention; what happens below that does not matter.
    """

    name: ClassVar[str] = "cascade"

    stop: Annotated[float, Gt(0), Le(1)] = 0.5
    """Chance to stop at the best result."""
    persistence: Annotated[float, Gt(0), Le(1)] = 1.0
    """Chance to go on where nothing stopped her."""
    positions: Annotated[int, Ge(1)] = 10
    """How many positions get any (k)."""

    def weights(self, grades: Floats) -> Floats:
        """Shares of the first positions, from the relevances in falling order."""
        places = _places(self.positions, grades)
        raw = self.persistence**places
        if len(places) and grades[0] > 0:
            raw[1:] *= np.cumprod(1 - self.stop * (grades[: len(places) - 1] / grades[0]))
        return _shares(raw)

    def about(self) -> str:
        """One sentence for a report."""
        return (
            f"A searcher reads down to {self.positions} positions and stops at the best result with probability "
            f"{self.stop:.3g}, at others with less, in proportion to relevance."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Click-through rates by position, as they were measured; they need not fall."""

    name: ClassVar[str] = "measured"

    rates: Sequence[float]
    """One per position, on any scale: finite, not negative, not all zero. Kept as a tuple of floats."""

    def __post_init__(self) -> None:
        if not isinstance(self.rates, Iterable):
            raise ParameterError(f"Measured: rates must be a list of numbers, got {self.rates!r}")
        rates = tuple(_number("rates", rate) + 0.0 for rate in self.rates)  # + 0.0 turns -0.0 into 0.0
        if not all(isfinite(rate) and rate >= 0 for rate in rates):
            raise ParameterError("Measured: rates must be finite and not negative")
        if not 0 < sum(rates) < float("inf"):
            raise ParameterError("Measured: rates must sum to a positive, finite number")
        object.__setattr__(self, "rates", rates)

    @property
    def positions(self) -> int:
        """How many positions were measured."""
        return len(self.rates)

    def weights(self, grades: Floats) -> Floats:
        """Shares of the first positions; of the grades only their number counts."""
        raw = np.array(self.rates[: len(grades)])
        if len(raw) and not raw.any():
            raise ParameterError(
                f"a ranking of {len(grades)} gets no attention: the rates of these positions are all 0",
                hint="give a first rate above 0, or leave short rankings out",
            )
        return _shares(raw)

    def about(self) -> str:
        """One sentence for a report."""
        return f"Attention as it was measured on {self.positions} position{'s' if self.positions > 1 else ''}."

    def __str__(self) -> str:
        return f"{self.name}:" + ",".join(map(repr, self.rates))


Attention = Geometric | Singular | Discounted | RankBiased | Cascade | Measured
"""Every model: ``positions``, ``weights(grades)``, ``about()`` and a canonical text.

``weights`` takes the relevances of one ranking in falling order, on any scale, and returns min(positions, number of
grades) numbers that sum to 1.
"""

SPELLED: dict[str, type[Geometric | Discounted | RankBiased | Cascade]] = {
    model.name: model for model in (Geometric, Discounted, RankBiased, Cascade)
}
NAMES = (*SPELLED, Singular.name, Measured.name)


def find_attention(text: str) -> Attention:
    """The model that a text names: ``geometric``, ``rbp:persistence=0.8``, ``measured:0.4,0.2,0.1``."""
    name, colon, rest = text.strip().partition(":")
    name = name.strip().lower()
    parts = [part.strip() for part in rest.split(",")] if colon else []
    if name == Measured.name:
        return Measured(rates=tuple(_number("rates", part) for part in parts))
    if name == Singular.name:
        if parts:
            raise ParameterError("singular takes no parameters", hint="geometric:share=0.5,positions=5 has some")
        return Singular()
    if name not in SPELLED:
        raise ParameterError(f"no attention model is called {name!r}", hint=did_you_mean(name, NAMES))
    model = SPELLED[name]
    return model(**read_parameters(name, [field.name for field in fields(model)], parts, _settle))


def _settle(name: str, value: object) -> float:
    return _whole(name, value) if name == "positions" else _number(name, value)


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a number, got {value!r}") from None


def _whole(name: str, value: object) -> int:
    try:
        return int(value) if isinstance(value, str) else index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a whole number, got {value!r}") from None


def _places(positions: int, grades: Floats) -> Floats:
    """0, 1, 2, ... for the positions that are there."""
    return np.arange(min(positions, len(grades)), dtype=np.float64)


def _shares(raw: Floats) -> Floats:
    shares: Floats = raw / raw.sum() if len(raw) else raw
    return shares
