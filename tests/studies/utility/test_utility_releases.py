"""Simulated releases are those of the mechanisms, and k-anonymity counts what its log holds."""

from collections import Counter
from dataclasses import replace
from math import exp

import numpy as np
import pytest
import utility_logs

from aidos.core.guarantee import Neighbours
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.rooms.publish.items import KINDS
from aidos.studies.utility.originals import Originals, gather_originals
from aidos.studies.utility.plan import ANONYMOUS, ORIGINAL, PAPER, Setting
from aidos.studies.utility.releases import COMPARED, build_mechanism, fresh_noise, guarantee_of, simulate

STRONG = {"epsilon": 400.0, "delta": 0.3, "items_per_person": 50}
"""Nearly no noise, and thresholds of a few people: what should come through is known."""


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=1) as made:
        yield made


@pytest.fixture(scope="module")
def originals(engine, tmp_path_factory):
    return gather_originals(engine.table(utility_logs.table(60)), tmp_path_factory.mktemp("releases"))


@pytest.mark.parametrize("name", ["zealous", PAPER, "laplace-threshold", "count-gaussian"])
def test_weak_promises_give_nearly_the_true_counts(engine, originals, name):
    made = simulate(engine, originals, Setting(mechanism=name, **STRONG), list(KINDS), seed=3)
    for kind, published in made.items():
        true = originals.counts(kind)
        frequent = np.flatnonzero(true > 10)
        assert set(frequent.tolist()) <= set(published.items.tolist())
        assert np.abs(published.dense(len(true))[frequent] - true[frequent]).max() <= 2


@pytest.mark.parametrize("name", list(COMPARED))
def test_the_same_seed_gives_the_same_release_and_another_noise(engine, originals, name):
    setting = Setting(mechanism=name, epsilon=3.0, delta=0.01, items_per_person=4)
    one, again = (simulate(engine, originals, setting, ["keywords"], seed=1)["keywords"] for _ in range(2))
    assert one.items.tolist() == again.items.tolist()
    assert fresh_noise(1, setting.name).seed != fresh_noise(2, setting.name).seed
    assert fresh_noise(1, "a", "bc").seed != fresh_noise(1, "ab", "c").seed


def test_settings_share_the_draw_of_items_and_repetitions_do_not(engine, originals):
    """With nearly no noise, counts show which items were drawn."""
    setting = Setting(mechanism="count-gaussian", epsilon=400.0, delta=0.3, items_per_person=1)
    size = len(originals.counts("keywords"))

    def counts(setting, seed):
        return simulate(engine, originals, setting, ["keywords"], seed=seed)["keywords"].dense(size)

    first, *others = (counts(setting, seed) for seed in (1, 2, 3))
    assert max(np.abs(first - other).max() for other in others) <= 2
    assert max(np.abs(first - counts(replace(setting, repeat=repeat), 1)).max() for repeat in (1, 2, 3)) > 2


@pytest.mark.parametrize(("name", "limit"), [("rounds", None), ("policy-gaussian", 4), (PAPER, 4)])
def test_only_what_draws_once_is_given_fewer_items(engine, originals, monkeypatch, name, limit):
    asked = []
    whole = Originals.contributions

    def spy(self, engine, kind, limit=None):
        asked.append(limit)
        return whole(self, engine, kind, limit)

    monkeypatch.setattr(Originals, "contributions", spy)
    simulate(
        engine, originals, Setting(mechanism=name, epsilon=3.0, delta=0.01, items_per_person=4), ["queries"], seed=1
    )
    assert asked == [limit]


def test_the_log_itself_has_every_item(engine, originals):
    made = simulate(engine, originals, Setting(mechanism=ORIGINAL), ["queries"], seed=1)["queries"]
    assert made.dense(len(made.items)).tolist() == originals.counts("queries").tolist()


def test_k_anonymity_counts_visits_with_queries_of_k_people(engine, originals):
    k = 25
    rows = list(utility_logs.rows(60, clicks=False))
    people = Counter((row["user_query"], row["client_id"]) for row in rows)
    asked = Counter(query for query, _ in people)
    visits = {(row["client_id"], row["timestamp"].day): [] for row in rows}
    for row in rows:
        if asked[row["user_query"]] >= k:
            visits[row["client_id"], row["timestamp"].day].append(row["user_query"])
    made = simulate(engine, originals, Setting(mechanism=ANONYMOUS, k=k), list(KINDS), seed=1)
    assert set(made) == {"keywords", "queries", "pairs"}
    names = originals.items("queries").column("user_query").to_pylist()
    queries = {names[item]: count for item, count in zip(*lists(made["queries"]), strict=True)}
    assert queries == Counter(query for visit in visits.values() for query in set(visit))
    words = originals.items("keywords").column("keyword").to_pylist()
    keywords = {words[item]: count for item, count in zip(*lists(made["keywords"]), strict=True)}
    assert keywords == Counter(word for visit in visits.values() for word in set(" ".join(visit).split()))
    pairs = originals.items("pairs").to_pylist()
    told = {
        (names[pairs[item]["user_query"]], names[pairs[item]["next_query"]]): count
        for item, count in zip(*lists(made["pairs"]), strict=True)
    }
    assert told == Counter(tuple(visit) for visit in visits.values() if len(visit) == 2)


def lists(published):
    return published.items.tolist(), published.counts.tolist()


def test_a_promise_about_replacing_is_earned_by_two_steps():
    setting = Setting(mechanism="count-gaussian", epsilon=1.0, delta=1e-6, items_per_person=10, halved=True)
    mechanism = build_mechanism(setting, 100)
    epsilon, delta = mechanism.epsilon, mechanism.delta
    assert 2 * epsilon == pytest.approx(1.0)
    assert (1 + exp(epsilon)) * delta == pytest.approx(1e-6)
    zealous = Setting(mechanism="zealous", epsilon=1.0, delta=1e-6, items_per_person=10, halved=True)
    assert guarantee_of(zealous, 100).epsilon == 1.0
    assert guarantee_of(zealous, 100).neighbours is Neighbours.REPLACE_ONE


def test_the_paper_mechanism_is_the_probabilistic_one():
    setting = Setting(mechanism=PAPER, epsilon=1.0, delta=1e-3, items_per_person=2)
    assert build_mechanism(setting, 500_000).calibration(None)["first_threshold"] == 4


def test_settings_of_nothing_are_refused(engine, originals):
    with pytest.raises(ParameterError, match="no setting"):
        build_mechanism(Setting(mechanism="magic", epsilon=1.0, delta=0.1), 10)
    with pytest.raises(ParameterError, match="no k"):
        simulate(engine, originals, Setting(mechanism=ANONYMOUS), ["queries"], seed=1)
