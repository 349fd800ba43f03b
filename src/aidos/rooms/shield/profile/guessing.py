"""How well somebody guesses which sensitive topics are held, from her beliefs about each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError

__all__ = ["CERTAIN", "Guessed", "guess", "reappeared"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int32]
CERTAIN = 0.9
"""A topic believed at least so much counts as found."""
TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Guessed:
    """How well sensitive topics were guessed; NaN where there is nothing to guess."""

    first: float
    """Chance that her first guess, shown topics included, is one that the searcher holds; equals are drawn from."""
    right: float
    """The same among topics not shown, where one of them is held: whether what was hidden can be guessed."""
    blind: float
    """The same for a guess at random among topics not shown."""
    ranking: float
    """Chance that a held sensitive topic is believed more than one that is not held (AUC, over all candidates)."""
    precision: float
    """Share of held topics among as many of the most believed as are held."""
    shown: float
    """Share of held sensitive topics that were plainly shown."""
    found: float
    """Share of held sensitive topics that she believes at nine in ten or more."""
    loss: float
    """Mean of -ln of the chance that she gives to the truth about a topic: the less, the more she knows."""


def guess(beliefs: Floats, held: NDArray[np.bool_], shown: NDArray[np.bool_]) -> Guessed:
    """Measure beliefs about candidate sensitive topics against which of them are held, and which were shown."""
    if not len(beliefs) == len(held) == len(shown):
        raise InputError(f"{len(beliefs)} beliefs, {len(held)} truths and {len(shown)} showings do not fit together")
    hidden_held, open_beliefs = held[~shown], beliefs[~shown]
    number = int(held.sum())
    return Guessed(
        first=_first(beliefs, held) if number else float("nan"),
        right=_first(open_beliefs, hidden_held) if hidden_held.any() else float("nan"),
        blind=float(hidden_held.mean()) if hidden_held.any() else float("nan"),
        ranking=_auc(beliefs, held),
        precision=_precision(beliefs, held, number) if number else float("nan"),
        shown=float(shown[held].mean()) if number else float("nan"),
        found=float((beliefs[held] >= CERTAIN).mean()) if number else float("nan"),
        loss=float(-np.log(np.clip(np.where(held, beliefs, 1.0 - beliefs), TINY, 1.0)).mean()),
    )


def reappeared(seeds: Sequence[Places], shown: Sequence[Places]) -> Places:
    """Topics that were hidden in one session (in the seed, not shown) and shown in a later one."""
    hidden: set[int] = set()
    found: set[int] = set()
    for seed, seen in zip(seeds, shown, strict=True):
        now = set(seen.tolist())
        found |= hidden & now
        hidden |= set(seed.tolist()) - now
    return np.array(sorted(found), dtype=np.int32)


def _first(beliefs: Floats, held: NDArray[np.bool_]) -> float:
    return float(held[beliefs == beliefs.max()].mean())


def _auc(beliefs: Floats, held: NDArray[np.bool_]) -> float:
    ours, others = beliefs[held], np.sort(beliefs[~held])
    if not len(ours) or not len(others):
        return float("nan")
    wins = np.searchsorted(others, ours, "left") + np.searchsorted(others, ours, "right")
    return float(wins.mean() / (2 * len(others)))


def _precision(beliefs: Floats, held: NDArray[np.bool_], number: int) -> float:
    """Expected over the order of equals."""
    least = np.sort(beliefs)[-number]
    above, equal = beliefs > least, beliefs == least
    drawn = (number - above.sum()) * held[equal].mean()
    return float((held[above].sum() + drawn) / number)
