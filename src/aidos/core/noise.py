"""Where randomness comes from.

A release draws from the operating system. A seed is for tests and simulations: it is explicit, recorded, and takes
the guarantee away, because whoever knows the seed can subtract the noise.

A source is an object and not a value: what was drawn is gone, so two of them are never equal. A copy of a seeded one
goes on where the original stood.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Noise"]


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """A source of uniform random bits, for samplers to build on."""

    seed: int | None = None
    """Repeatable when given; the operating system's randomness when None."""
    bits: random.Random = field(init=False, repr=False)
    """The stream itself: ``getrandbits`` and ``randrange`` are the parts to use."""

    def __post_init__(self) -> None:
        stream = random.SystemRandom() if self.seed is None else random.Random(self.seed)  # noqa: S311
        object.__setattr__(self, "bits", stream)

    def __reduce__(self) -> tuple[Callable[..., Noise], tuple[object, ...]]:
        """How it is pickled and copied; the operating system's randomness has no state to take along."""
        return _as_it_stood, (self.seed, None if self.seed is None else self.bits.getstate())

    @property
    def is_repeatable(self) -> bool:
        """Whether somebody who knows the seed can draw the same noise again."""
        return self.seed is not None

    @property
    def source(self) -> str:
        """For manifests: where the randomness came from."""
        return "operating system" if self.seed is None else f"seed {self.seed}, repeatable"


def _as_it_stood(seed: int | None, state: tuple[Any, ...] | None) -> Noise:
    noise = Noise(seed)
    if state is not None:
        noise.bits.setstate(state)
    return noise
