"""Steered counts and rounds against a plain program that draws the same noise, step by step."""

import hashlib
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.account.steering import steered_counts, steered_weights, weighted_rounds
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteGaussian
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.rooms.publish.counts import SALT_BYTES
from aidos.rooms.publish.steered import DIGITS, PRIME, SteeredCounts, SteeredRounds, coded_contributions
from aidos.rooms.publish.weighted_gaussian import unit_weights

ASKED = {"epsilon": 4.0, "delta": 1e-3, "items_per_person": 2, "items_seen": 4}


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=2, memory="1GB") as opened:
        yield opened


@pytest.fixture(scope="module")
def people():
    """Frequent, middling and rare items, and a person with more of them than are looked at."""
    drawn = np.random.default_rng(5)
    found = {f"p{n}": {f"i{int(k)}" for k in drawn.zipf(1.4, 3) if k < 60} for n in range(150)}
    found["busy"] = {f"i{k}" for k in range(1, 12)}
    return {person: items for person, items in found.items() if items}


def contributions(engine, people):
    rows = [(person, item) for person, items in people.items() for item in items]
    table = pa.table({"person": [row[0] for row in rows], "item": [row[1] for row in rows]})
    return engine.table(table)


def ticket(salt, text):
    return int.from_bytes(hashlib.md5(f"{salt.hex()}{text}".encode()).digest()[8:], "little") >> 2


def place(hers, item):
    """Her ticket times that of the item, modulo a prime; then the item's other digits."""
    return (hers % (PRIME - 1) + 1) * (item % (PRIME - 1) + 1) % PRIME, item >> DIGITS


def seen_items(people, seen, salt):
    """The first items of each person in the order of her ticket times theirs."""
    return {
        person: sorted(items, key=lambda item: place(ticket(salt, person), ticket(salt, item)))[:seen]
        if len(items) > seen
        else sorted(items)
        for person, items in people.items()
    }


def first_round(people, steering, noise, seen):
    salt = noise.bits.randbytes(SALT_BYTES)
    kept = seen_items(people, seen, salt)
    weights = unit_weights(steering.first.unit, seen)
    total = Counter()
    for items in kept.values():
        for item in items:
            total[item] += weights[len(items) - 1]
    names = sorted(set().union(*people.values()))
    looked_at = [name for name in names if name in total]
    drawn = DiscreteGaussian(steering.first.scale / steering.first.unit).sample(noise, len(looked_at))
    return salt, kept, {name: total[name] + int(extra) for name, extra in zip(looked_at, drawn, strict=True)}


def lots(noise, size):
    return [word >> 2 for word in np.frombuffer(noise.bits.randbytes(8 * size), dtype="<u8").tolist()]


def ranked(seen, chosen, noise):
    order = sorted(zip([seen[name] for name in chosen], lots(noise, len(chosen)), chosen, strict=True))
    return {name: place for place, (_, _, name) in enumerate(order)}


def second_choice(kept, ranks, limit):
    mine = {person: sorted((i for i in items if i in ranks), key=ranks.get) for person, items in kept.items()}
    return {person: items[:limit] for person, items in mine.items()}


@pytest.mark.parametrize("keep", ["any", "frequent", "rare"])
@pytest.mark.parametrize("seed", range(6))
def test_counts_are_those_of_a_plain_program(engine, people, seed, keep):
    mechanism = SteeredCounts(**ASKED, keep=keep)
    steering = steered_counts(**ASKED)
    noise = Noise(seed)
    salt, kept, seen = first_round(people, steering, noise, ASKED["items_seen"])
    candidates = [name for name, value in seen.items() if value >= steering.candidate / steering.first.unit]
    if keep == "any":
        drawn = dict(zip(candidates, lots(noise, len(candidates)), strict=True))
        orders = {who: {i: place(ticket(salt, who), lot) for i, lot in drawn.items()} for who in kept}
    else:
        sign = 1 if keep == "rare" else -1
        orders = dict.fromkeys(kept, ranked({name: sign * value for name, value in seen.items()}, candidates, noise))
    limit = ASKED["items_per_person"]
    counts = Counter(i for who, items in kept.items() for i in second_choice({who: items}, orders[who], limit)[who])
    names = sorted(counts)
    drawn = DiscreteGaussian(steering.second.scale).sample(noise, len(names))
    noisy = {(name,): counts[name] + int(extra) for name, extra in zip(names, drawn, strict=True)}
    expected = {item: value for item, value in noisy.items() if value > steering.second.threshold}
    assert mechanism.run(contributions(engine, people), Noise(seed)).people() == expected
    assert expected


@pytest.mark.parametrize("seed", range(6))
def test_rounds_are_those_of_a_plain_program(engine, people, seed):
    mechanism = SteeredRounds(**ASKED)
    steering = steered_weights(**ASKED)
    noise = Noise(seed)
    _, kept, seen = first_round(people, steering, noise, ASKED["items_seen"])
    unit = steering.first.unit
    out = {name for name, value in seen.items() if value > steering.first.threshold / unit}
    candidates = [name for name, value in seen.items() if name not in out and value >= steering.candidate / unit]
    ranks = ranked(seen, candidates, noise)
    weights, total = unit_weights(steering.second.unit, ASKED["items_per_person"]), defaultdict(int)
    for items in second_choice(kept, ranks, ASKED["items_per_person"]).values():
        for item in items:
            total[item] += weights[len(items) - 1]
    names = sorted(total)
    drawn = DiscreteGaussian(steering.second.scale / steering.second.unit).sample(noise, len(names))
    limit = steering.second.threshold / steering.second.unit
    passed = {name for name, extra in zip(names, drawn, strict=True) if total[name] + int(extra) > limit}
    assert mechanism.run(contributions(engine, people), Noise(seed)).items() == [
        (name,) for name in sorted(out | passed)
    ]


def test_a_person_who_is_added_changes_nobody_elses_items(engine, people):
    """Which items of a person are kept depends on hers alone, given the ranks: the ranks are given here."""
    ranks = pa.table({"row": list(range(1, 61)), "rank": list(range(60, 0, -1))})

    def kept(who):
        with coded_contributions(contributions(engine, who), 4, Noise(3)) as coded:
            counted = coded.counted(ranks, 60)
            return {name: int(n) for name, n in zip(counted.rows, counted.numbers, strict=True)}

    without = {person: items for person, items in people.items() if person != "busy"}
    same = {**without, "busy": {"i1", "i2"}}  # the universe of items does not grow, so that labels stay
    difference = Counter(kept(same))
    difference.subtract(kept(without))
    assert sum(map(abs, difference.values())) == 2


def test_items_of_several_columns_and_nobody_at_all(engine):
    pairs = [(f"p{n}", "a", "b") for n in range(60)]
    columns = dict(zip(("person", "user_query", "object_id"), map(list, zip(*pairs, strict=True)), strict=True))
    table = engine.table(pa.table(columns))
    made = SteeredCounts(**ASKED).run(table, Noise(1))
    assert made.columns == ("user_query", "object_id")
    assert made.items() == [("a", "b")]
    nobody = table.select("select * from {table} where false")
    assert len(SteeredCounts().run(nobody, Noise())) == len(SteeredRounds().run(nobody, Noise())) == 0


requests = st.tuples(st.floats(0.1, 10), st.floats(1e-10, 1e-2), st.integers(1, 40), st.integers(1, 120))


@given(requests)
@settings(max_examples=25, deadline=None)
def test_calibrations_are_proven_or_refused(request):
    for calibrate in (steered_counts, steered_weights):
        found = calibrate(*request)
        assert found.shown <= request[1] * 0.3 * (1 + 1e-9)
        assert found.candidate >= 1.8 * found.first.scale * (1 - 1e-9)


def test_a_lower_threshold_than_the_calibrated_one_shows_too_much():
    found = steered_counts(1.0, 1e-6, 10, 100)
    assert 0.3e-6 / 2 < found.shown <= 0.3e-6
    rounds, part = weighted_rounds(1.0, 1e-6, 10, (0.05, 0.15, 0.80))
    assert len(rounds) == 3
    assert part.delta <= 0.5e-6 * (1 + 1e-9)


def test_too_many_items_are_refused_by_name():
    with pytest.raises(ParameterError, match="items_seen"):
        SteeredCounts(items_seen=5000)
