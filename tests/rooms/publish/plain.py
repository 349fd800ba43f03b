"""The steps of a release in plain Python, word for word from their definitions: what the engine is compared with."""

from collections import Counter
from hashlib import md5


def kept(contributions, limit, salt):
    """At most ``limit`` items of each person, by md5 of salt, person and item."""

    def place(person, item):
        text = salt.hex() + "\x1f".join((person, *item))
        return md5(text.encode()).hexdigest()[:12], item

    people = {}
    for person, item in set(contributions):
        people.setdefault(person, []).append(item)
    return {person: sorted(items, key=lambda item: place(person, item))[:limit] for person, items in people.items()}


def people_per_item(contributions, limit, salt):
    return Counter(item for items in kept(contributions, limit, salt).values() for item in items)


def weight_per_item(contributions, weights, salt):
    total = Counter()
    for items in kept(contributions, len(weights), salt).values():
        for item in items:
            total[item] += weights[len(items) - 1]
    return total
