"""Where randomness comes from.

A release draws from the operating system. A seed is for tests and simulations: it is explicit, recorded, and takes
the guarantee away, because whoever knows the seed can subtract the noise.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["Noise"]


@dataclass(frozen=True, slots=True)
class Noise:
    """A source of uniform random bits, for samplers to build on."""

    seed: int | None = None
    """Repeatable when given; the operating system's randomness when None."""
    bits: random.Random = field(init=False, repr=False, compare=False)
    """The stream itself: ``getrandbits`` and ``randrange`` are the parts to use."""

    def __post_init__(self) -> None:
        stream = random.SystemRandom() if self.seed is None else random.Random(self.seed)  # noqa: S311
        object.__setattr__(self, "bits", stream)

    @property
    def is_repeatable(self) -> bool:
        """Whether somebody who knows the seed can draw the same noise again."""
        return self.seed is not None

    @property
    def source(self) -> str:
        """For manifests: where the randomness came from."""
        return "operating system" if self.seed is None else f"seed {self.seed}, repeatable"
