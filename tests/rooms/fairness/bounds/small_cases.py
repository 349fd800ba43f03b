"""Small settings, and the bounds by brute force."""

from itertools import permutations, product

import numpy as np
from scipy.optimize import linprog

from aidos.rooms.fairness.rankings import discounts


def geometric(positions):
    weights = 0.5 ** np.arange(1, positions + 1)
    return weights / weights.sum()


def query_of(relevance):
    """Relevance that sums to 1, and the paper's gains."""
    relevance = np.asarray(relevance, dtype=float)
    relevance = relevance / relevance.sum()
    return relevance, 2**relevance - 1


def legal_orders(gains, positions, floor):
    weights = discounts(positions)
    least = floor * float(weights @ np.sort(gains)[::-1][:positions]) - 1e-12
    orders = (np.array(order) for order in permutations(range(len(gains)), positions))
    return [order for order in orders if float(weights @ gains[order]) >= least]


def attention_of(order, attention, number):
    given = np.zeros(number)
    given[order] = attention
    return given


def enumerated_rate(queries, attention, floor):
    """Distance of the mean relevance from the mean of the hulls, all corners listed."""
    number = len(queries[0][0])
    corners, owner = [], []
    for which, (_, gains) in enumerate(queries):
        for order in legal_orders(gains, len(attention), floor):
            corners.append(attention_of(order, attention, number))
            owner.append(which)
    relevance = np.mean([relevance for relevance, _ in queries], axis=0)
    plus, minus = np.eye(number), -np.eye(number)
    sums = np.array([[which == query for which in owner] for query in range(len(queries))], dtype=float)
    found = linprog(
        np.concatenate([np.zeros(len(corners)), np.ones(2 * number)]),
        A_eq=np.block([[np.array(corners).T, plus, minus], [sums, np.zeros((len(queries), 2 * number))]]),
        b_eq=np.append(relevance, np.full(len(queries), 1 / len(queries))),
    )
    return found.fun


def enumerated_optimum(rankings, attention, floor):
    """Least unfairness over every sequence."""
    number = len(rankings[0][0])
    earned = np.sum([relevance for relevance, _ in rankings], axis=0)
    choices = [
        [attention_of(order, attention, number) for order in legal_orders(gains, len(attention), floor)]
        for _, gains in rankings
    ]
    return min(float(np.abs(np.sum(sequence, axis=0) - earned).sum()) for sequence in product(*choices))
