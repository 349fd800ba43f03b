"""Query substitution by dictionaries, one pair after the other: what the arrays must agree with."""

from collections import Counter
from itertools import pairwise
from math import log, log2


def joined(queries, least_information, least_count):
    words, together = Counter(), Counter()
    for query, times in queries:
        for word in query.split():
            words[word] += times
        for neighbours in pairwise(query.split()):
            together[neighbours] += times
    all_words, all_together = sum(words.values()), sum(together.values())
    return {
        (a, b)
        for (a, b), times in together.items()
        if times >= least_count
        and log2((times / all_together) / (words[a] / all_words * words[b] / all_words)) >= least_information
    }


def split(query, together):
    found = []
    for word in query.split():
        if found and (found[-1][-1], word) in together:
            found[-1].append(word)
        else:
            found.append([word])
    return tuple(" ".join(phrase) for phrase in found)


def ratio(both, first, second, total):
    """Dunning's ratio as two binomial likelihoods each way, by their logarithms."""

    def likelihood(hits, of, chance):
        missed = of - hits
        return (hits * log(chance) if hits else 0.0) + (missed * log(1 - chance) if missed else 0.0)

    others, other_hits = total - first, second - both
    apart = likelihood(both, first, both / first)
    apart += likelihood(other_hits, others, other_hits / others) if others else 0.0
    chance = second / total
    return 2 * (apart - likelihood(both, first, chance) - likelihood(other_hits, others, chance))


def statistics(pairs):
    """Ratio of each pair that is seen more often than by chance."""
    both, first, second, total = Counter(), Counter(), Counter(), 0
    for a, b, times in pairs:
        both[a, b] += times
        first[a] += times
        second[b] += times
        total += times
    return {
        (a, b): ratio(times, first[a], second[b], total)
        for (a, b), times in both.items()
        if times * total > first[a] * second[b]
    }


def changes(pairs, together):
    """Phrases that took each other's place where all else stayed."""
    for a, b, times in pairs:
        left, right = split(a, together), split(b, together)
        differing = [place for place in range(len(left)) if len(left) == len(right) and left[place] != right[place]]
        if len(differing) == 1:
            yield left[differing[0]], right[differing[0]], times


def suggest(queries, pairs, query, *, least_ratio, least_information, least_count, most):
    together = joined(queries, least_information, least_count)
    neat = [(" ".join(a.split()), " ".join(b.split()), times) for a, b, times in pairs]
    neat = [(a, b, times) for a, b, times in neat if a and b and a != b]
    parts = split(query, together)
    asked = " ".join(parts)
    found = [(-r, -1, b, b) for (a, b), r in statistics(neat).items() if a == asked and r >= least_ratio]
    for (a, b), r in statistics(list(changes(neat, together))).items():
        for place, phrase in enumerate(parts):
            if phrase == a and r >= least_ratio:
                found.append((-r, place, b, " ".join([*parts[:place], b, *parts[place + 1 :]])))
    best = {}
    for lost, *_, made in sorted(found):
        best.setdefault(made, -lost)
    return list(best.items())[:most]
