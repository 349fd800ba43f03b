"""The probabilistic promise: no secret choice before the noise, and no word about how many people there are."""

from collections import Counter
from functools import cache
from itertools import product
from math import exp

import pyarrow as pa
import pytest

from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.publish.counts import bounded, draw_salt
from aidos.rooms.publish.zealous import Zealous

ASKED = Zealous(epsilon=4.0, delta=1e-3, items_per_person=1, promise="probabilistic", people=100)
LIFT = 1000
"""In place of noise: enough to show every item that gets any."""
SEEDS = range(24)


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=1, memory="500MB") as opened:
        yield opened


def true_counts(engine, rows, seed, monkeypatch, mechanism=ASKED):
    """The numbers of people before noise, as the mechanism counted them in one run."""
    table = engine.table(pa.table({"person": [p for p, _ in rows], "item": [i for _, i in rows]}))
    with monkeypatch.context() as patched:
        patched.setattr(DiscreteLaplace, "sample", lambda *_: LIFT)
        made = mechanism.run(table, Noise(seed))
    return {item: people - LIFT for (item,), people in made.people().items()}


def log_of(victim):
    """Six people have x and something of their own, fifty have z, and one person is replaced."""
    undecided = [(f"p{number}", item) for number in range(6) for item in ("x", f"own {number}")]
    return [*undecided, *((f"z{number}", "z") for number in range(50)), ("victim", victim)]


@cache
def outcomes(people):
    """What is shown of an item that so many people have, with its probability; None when nothing is."""
    asked = ASKED.calibration(PublicFacts())
    if people < asked["first_threshold"]:
        return {None: 1.0}
    law, above = DiscreteLaplace(asked["scale"]), asked["second_threshold"]
    shown = {people + k: law.pmf(k) for k in range(-60, 61) if people + k > above}
    return {None: 1 - sum(shown.values()), **shown}


def output_law(counts):
    """The outputs that show none of the items of single people, over all runs."""
    law = Counter()
    for numbers in counts:
        hidden = outcomes(1)[None] ** sum(item.startswith("own") for item in numbers)
        laws = (outcomes(numbers.get(item, 0)).items() for item in "xz")
        for (x, chance_of_x), (z, chance_of_z) in product(*laws):
            law[x, z] += chance_of_x * chance_of_z * hidden / len(counts)
    return law


def chance_of_broken_outputs(engine, monkeypatch):
    """How often an output comes that is more than e^epsilon times as likely as on the neighbour."""
    here, there = (
        output_law([true_counts(engine, log_of(item), seed, monkeypatch) for seed in SEEDS]) for item in "xz"
    )
    most = exp(ASKED.epsilon) * (1 + 1e-9)
    return sum(chance for output, chance in here.items() if chance > most * there[output])


def secret_choice(self, data, noise):
    return bounded(data, self.items_per_person, draw_salt(noise))


def test_outputs_beyond_epsilon_are_rarer_than_delta(engine, monkeypatch):
    assert chance_of_broken_outputs(engine, monkeypatch) <= ASKED.delta


def test_a_secret_salt_would_break_the_promise(engine, monkeypatch):
    """Each salt keeps it, and their mixture does not: 0.026 of all outputs are beyond e^epsilon, where 0.001 may be."""
    monkeypatch.setattr(Zealous, "_kept", secret_choice)
    assert 0.005 < chance_of_broken_outputs(engine, monkeypatch) < 0.1


def test_the_other_promise_keeps_its_secret_salt(engine, monkeypatch):
    other = Zealous(epsilon=4.0, delta=1e-3, items_per_person=1)
    seen = {true_counts(engine, log_of("x"), seed, monkeypatch, other)["x"] for seed in SEEDS}
    assert len(seen) > 1


def people_kept(engine, people, limit, monkeypatch):
    mechanism = Zealous(epsilon=4.0, promise="probabilistic", people=limit, first_threshold=1)
    return set(true_counts(engine, [(name, name) for name in people], 1, monkeypatch, mechanism))


def test_more_people_than_promised_for_are_cut_blindly_and_replacing_one_replaces_one(engine, monkeypatch):
    everybody = [f"person {number}" for number in range(30)]
    for limit in (1, 7, 30):
        kept = people_kept(engine, everybody, limit, monkeypatch)
        assert len(kept) == min(limit, 30)
        for other in ("somebody", "else", "entirely", "person 30"):
            for gone in everybody[::10]:
                neighbours = [name for name in everybody if name != gone]
                assert len(kept - people_kept(engine, [*neighbours, other], limit, monkeypatch)) <= 1
