"""A stable sort that compiles in a moment; the library's takes seconds to compile, which the first user would wait."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.fairness.kernels.compiled import njit

__all__ = ["sort_by"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)
def sort_by(members: Ints, values: Floats, begin: int, end: int, spare: Ints) -> None:
    """Put ``members[begin:end]`` in the order of ``values[member]``, equal ones as they stand; ``spare`` is as long."""
    width = 1
    while width < end - begin:
        for low in range(begin, end, 2 * width):
            middle, high = min(low + width, end), min(low + 2 * width, end)
            left, right = low, middle
            for at in range(low, high):
                if left < middle and (right >= high or values[members[left]] <= values[members[right]]):
                    spare[at] = members[left]
                    left += 1
                else:
                    spare[at] = members[right]
                    right += 1
        for at in range(begin, end):
            members[at] = spare[at]
        width *= 2
