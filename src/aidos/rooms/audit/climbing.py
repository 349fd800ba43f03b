"""Uphill within limits: a limited-memory quasi-Newton climb (L-BFGS) that never ends lower than it began.

Steps go along the inverse curvature that the last few steps have shown, are cut at the limits and halved until they
gain enough (Armijo). A coordinate at its limit that would leave it stays there for the step. Everything is a product of
short vectors: library routines that split such work between threads lose ten times more than they win.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["climb"]

Floats = NDArray[np.float64]
Target = Callable[[Floats], tuple[float, Floats]]

MEMORY = 10
"""Steps that are remembered."""
HALVINGS = 25
ENOUGH = 1e-4
"""Of the gain that the slope promises, the share that a step must bring."""
FLAT = 1e-10
"""Gains below this share of the value end the climb."""


def climb(target: Target, start: Floats, limits: tuple[Floats, Floats], steps: int) -> Floats:
    """A point at least as high as the start; ``target`` gives value and gradient, ``limits`` the least and most."""
    low, high = limits
    point = np.clip(start, low, high)
    value, gradient = target(point)
    history: deque[tuple[Floats, Floats]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        free = ~(((point <= low) & (gradient < 0)) | ((point >= high) & (gradient > 0)))
        slope = np.where(free, gradient, 0.0)
        if not slope.any():
            break
        direction = np.where(free, _newton(slope, history), 0.0)
        if not float(direction @ slope) > 0:
            history.clear()
            direction = slope
        size = 1.0 if history else 1 / max(1.0, float(np.abs(slope).sum()))
        for _ in range(HALVINGS):
            trial = np.clip(point + size * direction, low, high)
            reached, turned = target(trial)
            if reached >= value + ENOUGH * float(gradient @ (trial - point)) and reached > value:
                break
            size /= 2
        else:
            break
        step, bend = trial - point, gradient - turned
        if float(step @ bend) > 1e-12 * float(bend @ bend):
            history.append((step, bend))
        gain, point, value, gradient = reached - value, trial, reached, turned
        if gain <= FLAT * max(abs(value), 1.0):
            break
    return point


def _newton(slope: Floats, history: deque[tuple[Floats, Floats]]) -> Floats:
    """The slope times the inverse curvature that the remembered steps imply (the two-loop recursion)."""
    if not history:
        return slope
    direction = slope.copy()
    shares = []
    for step, bend in reversed(history):
        share = float(step @ direction) / float(step @ bend)
        direction -= share * bend
        shares.append(share)
    step, bend = history[-1]
    direction *= float(step @ bend) / float(bend @ bend)
    for (step, bend), share in zip(history, reversed(shares), strict=True):
        direction += (share - float(bend @ direction) / float(step @ bend)) * step
    return direction
