"""The definitions written out, object by object and pair by pair: what the fast versions must equal."""

from math import log, sqrt

import numpy as np

from aidos.core.noise import Noise
from aidos.rooms.shield.mediator.objects import TopicVectors


def vector(objects, number):
    """Weights by topic of one object."""
    if not isinstance(objects.topics, TopicVectors):
        return {int(objects.topics[number]): 1.0}
    held = objects.topics
    span = slice(held.starts[number], held.starts[number + 1])
    return dict(zip(held.topics[span].tolist(), held.weights[span].tolist(), strict=True))


def similarity(objects, one, other, name):
    """sim(o, o') by its definition."""
    if name == "same-topic":
        same = objects.people[one] == objects.people[other] and objects.topics[one] == objects.topics[other]
        return float(same)
    mine, theirs = vector(objects, one), vector(objects, other)
    topics = set(mine) | set(theirs)
    pairs = [(mine.get(topic, 0.0), theirs.get(topic, 0.0)) for topic in topics]
    if name == "jaccard":
        larger = sum(max(pair) for pair in pairs)
        return sum(min(pair) for pair in pairs) / larger if larger else 0.0
    lengths = sqrt(sum(a * a for a, _ in pairs)) * sqrt(sum(b * b for _, b in pairs))
    return sum(a * b for a, b in pairs) / lengths if lengths else 0.0


def coherence(objects, number, members, name):
    """Mean similarity with the other members."""
    others = [member for member in members if member != number]
    return sum(similarity(objects, number, other, name) for other in others) / len(others) if others else 0.0


def random_words(seed, objects):
    """The random words that a mediator with this seed draws for so many objects."""
    bits = Noise(seed).bits.getrandbits(128 * objects)
    return np.frombuffer(bits.to_bytes(16 * objects, "little"), dtype=np.uint64).reshape(-1, 2)


def uniform(word):
    return (int(word) >> 11) * 2.0**-53


def assign(objects, accounts, alphas, words, name):
    """The original heuristic, searching all accounts for each object."""
    members = [[] for _ in range(accounts)]
    chosen = []
    for number in range(len(objects)):
        account = -1
        if uniform(words[number, 0]) >= alphas[number]:
            found = [coherence(objects, number, held, name) for held in members]
            account = max(range(accounts), key=lambda one: (found[one], -one)) if max(found) > 0 else -1
        if account < 0:
            account = int(uniform(words[number, 1]) * accounts)
        members[account].append(number)
        chosen.append(account)
    return chosen


def entropy(counts):
    total = sum(counts)
    return -sum(count / total * log(count / total) for count in counts if count)


def kendall(first, second):
    """Share of pairs of hits in either list that are not agreed on, pair by pair."""
    hits = list(dict.fromkeys([*first, *second]))
    total = 0.0
    for i, one in enumerate(hits):
        for other in hits[i + 1 :]:
            total += disagreement(first, second, one, other)
    pairs = len(hits) * (len(hits) - 1) / 2
    return total / pairs if pairs else 0.0


def disagreement(first, second, one, other):
    orders = []
    for ranking in (first, second):
        here = [ranking.index(hit) if hit in ranking else len(ranking) for hit in (one, other)]
        orders.append(np.sign(here[0] - here[1]))
    return 0.5 if 0 in orders else float(orders[0] != orders[1])
