"""The pool release keeps what its strict and thresholded variants promise, and the variant as published keeps nothing.

Exact where the output distribution can be enumerated, otherwise by the distinguisher at 99.9 % confidence: a sound
mechanism fails a test here once in a thousand runs at most. The seeds are fixed, so that a failure can be repeated.
"""

from math import exp

import numpy as np
import pytest

from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.records import SEARCH_LOG
from aidos.core.sampling import DiscreteLaplace
from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.publish.attacks.distinguisher import distinguish
from aidos.rooms.publish.attacks.scenes import SEPARATOR, PairScene, QueryScene, Stage
from aidos.rooms.publish.attacks.sybil import attack_with_sybils
from aidos.rooms.publish.pool import PoolRelease
from aidos.rooms.publish.poolsteps import Steps

FACTS = PublicFacts()
SURE = 0.999
REACH = 40
"""Noise is enumerated from -40 to 40."""


@pytest.fixture
def nobody():
    """A search log without rows."""
    columns = ", ".join(f'cast(null as {column.type}) as "{column.name}"' for column in SEARCH_LOG.columns)
    with EmbeddedEngine(threads=1) as engine:
        yield engine.view(f"select {columns} where false")


def shows(mechanism, name):
    def publish(log, noise):
        table = mechanism.run(log, noise).tables()[name]
        rows = zip(*(table.column(column).to_pylist() for column in table.column_names), strict=True)
        return {SEPARATOR.join(row[:-1]): row[-1] for row in rows}

    return publish


def everything(_law, _noise, size):
    """Instead of random noise: every value once, the same for each block of items."""
    return np.resize(np.arange(-REACH, REACH + 1), size)


def outputs(mechanism, nobody, count):
    """What becomes of a pool of items that all have this count, one for every value of the noise."""
    asked = nobody.select(f"""
        select 'p' || person as client_id, timestamp '2024-03-05' + to_hours(item) as "timestamp",
            'q' || item as user_query, cast(null as varchar) as session_id, cast(null as varchar) as query_id,
            'query' as action, cast(null as varchar) as object_id, cast(null as integer) as position
        from range({2 * REACH + 1}) as i(item), range({count}) as c(person)
    """)
    return sorted(mechanism.run(asked, Noise(1)).queries.column("count").to_pylist())


@pytest.mark.parametrize("threshold", [0, 5, 20])
def test_strict_is_pure_differential_privacy_by_enumeration(nobody, monkeypatch, threshold):
    """For items of one count: the probability of each output, and its ratio when one person adds up to q_f = 3."""
    scale, limit = 2.0, 3
    pool = tuple(f"q{item}" for item in range(2 * REACH + 1))
    mechanism = PoolRelease(
        pool=pool, queries_per_person=200, query_scale=scale, query_threshold=threshold, transitions_per_person=0
    )
    monkeypatch.setattr(DiscreteLaplace, "sample", everything)
    law = DiscreteLaplace(scale)

    def distribution(count):
        shown = outputs(mechanism, nobody, count)
        chances = {number: law.pmf(number - count) for number in shown}
        assert len(chances) == len(shown), "every value of the noise gives another output"
        whole = {**chances, None: law.tail(count - threshold - 1)}
        assert abs(sum(whole.values()) - 1) < 2 * exp(-REACH / scale)
        return whole

    for count in (0, 4, 11):
        before = distribution(count)
        for added in range(1, limit + 1):
            after = distribution(count + added)
            for output in set(before) & set(after):
                assert abs(np.log(after[output] / before[output])) <= added / scale + 1e-9
            # Outputs that only one of the two reaches lie beyond the noise that was enumerated, and nowhere else.
            beyond = sum(before[o] for o in set(before) - set(after)) + sum(after[o] for o in set(after) - set(before))
            assert beyond < 4 * exp(-(REACH - added) / scale)


@pytest.mark.parametrize("items", [1, 3])
def test_strict_keeps_its_epsilon_against_the_distinguisher(nobody, items):
    scene = QueryScene(trials=2000, items=items)
    mechanism = PoolRelease(
        pool=scene.guesses(), queries_per_person=items, transitions_per_person=0, query_scale=1.0, query_threshold=12
    )
    found = distinguish(Stage(shows(mechanism, "queries"), scene, nobody, Noise(11)), delta=0.0, confidence=SURE)
    assert mechanism.epsilon / 3 < found.epsilon <= mechanism.epsilon, "below, and not for want of power"


def test_strict_transitions_keep_their_epsilon(nobody):
    scene = PairScene(trials=300, crowd=60)
    mechanism = PoolRelease(
        pool=scene.known_queries(),
        queries_per_person=2,
        transitions_per_person=1,
        query_scale=2.0,
        query_threshold=20,
        transition_scale=1.0,
        transition_threshold=6,
    )
    found = distinguish(Stage(shows(mechanism, "transitions"), scene, nobody, Noise(12)), delta=0.0, confidence=SURE)
    assert not found.refutes(mechanism.epsilon)


def test_thresholded_keeps_its_promise(nobody):
    scene = QueryScene(trials=2000, items=3)
    mechanism = PoolRelease(
        variant="thresholded", queries_per_person=3, transitions_per_person=0, query_scale=3.0, query_threshold=20
    )
    promise = mechanism.pieces(FACTS)["queries"]
    found = distinguish(
        Stage(shows(mechanism, "queries"), scene, nobody, Noise(13)), delta=promise.delta, confidence=SURE
    )
    assert not found.refutes(promise.epsilon)


def test_thresholded_delta_is_tight_for_the_worst_person(nobody):
    """Three queries of her own, one occurrence each: something comes out as often as delta says, and no more."""
    scene = QueryScene(trials=4000, items=3)
    mechanism = PoolRelease(
        variant="thresholded", queries_per_person=3, transitions_per_person=0, query_scale=3.0, query_threshold=8
    )
    promise = mechanism.pieces(FACTS)["queries"].delta
    seen = scene.observe(shows(mechanism, "queries")(scene.plant(nobody, 0), Noise(14)))
    came_out = np.isfinite(seen[1::2]).any(axis=1).mean()
    assert not np.isfinite(seen[0::2]).any()
    assert 0.08 < promise < 0.2
    assert abs(came_out - promise) < 4 * np.sqrt(promise * (1 - promise) / 2000)


def test_as_published_publishes_one_persons_pair_always(nobody):
    scene = PairScene(trials=200, crowd=200)
    mechanism = PoolRelease(
        variant="as-published", queries_per_person=10, query_scale=10.0, query_threshold=100, transition_scale=10.0
    )
    publish = shows(mechanism, "transitions")
    seen = scene.observe(publish(scene.plant(nobody, 0), Noise(15)))[:, 0]
    assert np.isfinite(seen[1::2]).all(), "what one person did is there"
    assert not np.isfinite(seen[0::2]).any(), "what nobody did is not"
    result = attack_with_sybils(Stage(publish, scene, nobody, Noise(16)), guarantee=mechanism.guarantee(FACTS))
    assert result.sybils == 0
    assert result.falls
    assert result.interval[0] > 0.85
    found = distinguish(Stage(publish, scene, nobody, Noise(17)), delta=1e-6, confidence=SURE)
    assert found.epsilon > 2.4, "no epsilon below this fits, and it grows with the number of trials"


BROKEN = {
    "sound": ("queries", Steps.queries),
    "noise halved": (
        "queries",
        lambda self, asked, law, above: SOUND_QUERIES(self, asked, DiscreteLaplace(law.scale / 2), above),
    ),
    "limit removed": ("askings", lambda self, _limit: SOUND_ASKINGS(self, 10**6)),
    "threshold forgotten": ("queries", lambda self, asked, law, _above: SOUND_QUERIES(self, asked, law, 0)),
}
SOUND_QUERIES, SOUND_ASKINGS = Steps.queries, Steps.askings


@pytest.mark.parametrize("code", BROKEN)
def test_the_distinguisher_tells_broken_code_from_sound_code(nobody, monkeypatch, code):
    scene = QueryScene(trials=2000, items=1 if code == "noise halved" else 4)
    mechanism = PoolRelease(
        variant="thresholded", queries_per_person=1, transitions_per_person=0, query_scale=1.0, query_threshold=16
    )
    promise = mechanism.pieces(FACTS)["queries"]
    monkeypatch.setattr(Steps, *BROKEN[code])
    found = distinguish(
        Stage(shows(mechanism, "queries"), scene, nobody, Noise(19)), delta=promise.delta, confidence=SURE
    )
    assert found.refutes(promise.epsilon) == (code != "sound")
