"""Every answer to one ranking, tried out: what the solver is compared with. Also random standings, hard on purpose."""

from itertools import permutations
from math import inf

import numpy as np

from aidos.rooms.fairness.rankings import Standing, discounts

FLOORS = (0.0, 0.5, 0.8, 0.97, 1.0)
WIDTHS = (0.0, 0.3, 1.0, inf)


def potential(balance, width):
    """The cost of a balance, written down from its definition."""
    balance = np.asarray(balance, dtype=np.float64)
    if width == inf:
        return balance**2
    size = np.abs(balance)
    return size if width == 0 else np.where(size <= width, balance**2 / (2 * width), size - width / 2)


def cost(standing, placed, width):
    """Sum over the accounts that got attention of the change of their potential."""
    owners = np.arange(len(standing.gains)) if standing.accounts is None else standing.accounts
    got = {}
    for subject, attention in zip(placed, standing.attention, strict=True):
        balance, before = got.get(owners[subject], (standing.balance[subject], 0.0))
        got[owners[subject]] = (balance, before + attention)
    return sum(float(potential(balance + more, width) - potential(balance, width)) for balance, more in got.values())


def dcg(standing, placed):
    return float(discounts(len(placed)) @ standing.gains[np.asarray(placed)])


def all_answers(standing, width):
    """Cost and DCG of every answer."""
    answers = list(permutations(range(len(standing.gains)), len(standing.attention)))
    return np.array([cost(standing, each, width) for each in answers]), np.array([dcg(standing, a) for a in answers])


def make_standing(gains, balance, attention, **more):
    gains, attention = np.array(gains, dtype=np.float64), np.array(attention, dtype=np.float64)
    balance = np.array(balance, dtype=np.float64)
    return Standing(
        relevance=gains / gains.sum(),
        gains=gains,
        attention=attention / attention.sum(),
        received=np.maximum(balance, 0.0),
        earned=np.maximum(-balance, 0.0),
        **more,
    )


def random_standing(draws, *, subjects, positions, shared=False):
    """Gains with ties and zeros or without, balances whole or not, near or far, attention that need not fall."""
    gains = draws.integers(0, 5, subjects) if draws.random() < 0.5 else draws.random(subjects)
    gains = np.sort(gains.astype(np.float64))[::-1]
    gains[0] = max(gains[0], 1.0)
    accounts = draws.integers(0, max(subjects // 2, 1), subjects) if shared else None
    balance = draws.normal(size=subjects) * draws.choice([0.1, 1.0, 3.0, 100.0])
    balance = draws.choice([balance, np.round(balance, 1), np.round(balance)])
    return make_standing(
        gains,
        balance if accounts is None else balance[accounts],
        draws.random(positions) + (0.01 if draws.random() < 0.8 else 0.0),
        quality_floor=float(draws.choice(FLOORS)),
        accounts=accounts,
    )
