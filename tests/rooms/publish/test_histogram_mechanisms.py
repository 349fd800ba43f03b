"""Each mechanism against its definition in plain Python: same bounding, same noise, same choice."""

from decimal import Context, Decimal, localcontext
from math import floor, inf, sqrt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import kept, people_per_item, weight_per_item

from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteGaussian, DiscreteLaplace
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.rooms.publish.click_counts import ClickCounts, ClickData
from aidos.rooms.publish.count_gaussian import CountGaussian
from aidos.rooms.publish.counts import draw_salt
from aidos.rooms.publish.items import KINDS, contributions
from aidos.rooms.publish.laplace_threshold import LaplaceThreshold
from aidos.rooms.publish.multi import LogRelease
from aidos.rooms.publish.policy_gaussian import PolicyGaussian, choose_with_chance, descend
from aidos.rooms.publish.rounds import SHARES, Rounds
from aidos.rooms.publish.truncated_geometric import TruncatedGeometric
from aidos.rooms.publish.weighted_gaussian import WeightedGaussian, unit_weights
from aidos.rooms.publish.zealous import PUBLIC_ORDER, Zealous

FACTS = PublicFacts()
ASKED = {"epsilon": 2.0, "delta": 0.01, "items_per_person": 3}


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=2, memory="500MB") as opened:
        yield opened


@pytest.fixture(scope="module")
def pairs():
    """People with a few items each, some of them common."""
    drawn = np.random.default_rng(5)
    return [
        (f"person {person}", (f"item {item}",))
        for person in range(300)
        for item in np.minimum(drawn.zipf(1.4, size=6), 60)
    ]


@pytest.fixture(scope="module")
def data(engine, pairs):
    people, items = [person for person, _ in pairs], [item[0] for _, item in pairs]
    return engine.table(pa.table({"person": people, "item": items})).select("select distinct * from {table}")


def plain_counts(pairs, law, threshold, seed, *, first=0, salt=None):
    noise = Noise(seed)
    counts = sorted(people_per_item(pairs, 3, draw_salt(noise) if salt is None else salt).items())
    drawn = law.sample(noise, len(counts)).tolist()
    noisy = {item: count + x for (item, count), x in zip(counts, drawn, strict=True) if count >= first}
    return {item: value for item, value in noisy.items() if value > threshold}


@pytest.mark.parametrize("seed", range(3))
def test_counts_with_gaussian_noise_above_the_threshold(data, pairs, seed):
    mechanism = CountGaussian(**ASKED)
    asked = mechanism.calibration(FACTS)
    expected = plain_counts(pairs, DiscreteGaussian(asked["sigma"]), asked["threshold"], seed)
    made = mechanism.run(data, Noise(seed))
    assert made.people() == expected
    assert made.has_counts
    assert list(made.people()) == sorted(expected, key=lambda item: (-expected[item], item))
    assert 3 < len(made) < 60


@pytest.mark.parametrize("seed", range(3))
def test_counts_with_laplace_noise_above_the_threshold(data, pairs, seed):
    mechanism = LaplaceThreshold(**ASKED)
    asked = mechanism.calibration(FACTS)
    expected = plain_counts(pairs, DiscreteLaplace(asked["scale"]), asked["threshold"], seed)
    assert mechanism.run(data, Noise(seed)).people() == expected


@pytest.mark.parametrize("given_", [{}, {"promise": "probabilistic", "people": 300}])
def test_zealous_has_two_thresholds(data, pairs, given_):
    mechanism = Zealous(**ASKED, **given_)
    asked = mechanism.calibration(FACTS)
    law = DiscreteLaplace(asked["scale"])
    assert asked["first_threshold"] == (3 if given_ else 1)
    salt = PUBLIC_ORDER if given_ else None
    expected = plain_counts(pairs, law, asked["second_threshold"], 9, first=asked["first_threshold"], salt=salt)
    assert mechanism.run(data, Noise(9)).people() == expected


def test_zealous_is_not_promised_for_fewer_people_than_are_public():
    with pytest.raises(ParameterError, match="300"):
        Zealous(promise="probabilistic", people=299).guarantee(PublicFacts(people=300))


def test_geometric_selection_publishes_no_count(data, pairs):
    mechanism = TruncatedGeometric(**ASKED)
    made = mechanism.run(data, Noise(4))
    noise = Noise(4)
    counts = sorted(people_per_item(pairs, 3, draw_salt(noise)).items())
    chosen = mechanism._selection().choose(np.array([count for _, count in counts]), noise)
    assert made.items() == [item for (item, _), passed in zip(counts, chosen, strict=True) if passed]
    assert made.table.column_names == ["item"]
    always = mechanism.calibration(FACTS)["always_from"]
    assert {item for item, count in counts if count >= always} <= set(made.items())


def plain_weighted(pairs, calibrated, noise):
    weights = sorted(weight_per_item(pairs, unit_weights(calibrated["unit"], 3), draw_salt(noise)).items())
    drawn = DiscreteGaussian(calibrated["sigma"] / calibrated["unit"]).sample(noise, len(weights)).tolist()
    limit = calibrated["threshold"] / calibrated["unit"]
    return [item for (item, weight), x in zip(weights, drawn, strict=True) if weight + x > limit]


def test_weights_with_gaussian_noise_above_the_threshold(data, pairs):
    mechanism = WeightedGaussian(**ASKED)
    made = mechanism.run(data, Noise(3))
    assert made.items() == plain_weighted(pairs, mechanism.calibration(FACTS), Noise(3))
    assert not made.has_counts


def test_rounds_remove_what_they_released_so_that_weight_moves_on(data, pairs):
    mechanism = Rounds(**ASKED)
    noise, left, released = Noise(6), pairs, []
    for calibrated in mechanism._calibrated()[0]:
        asked = {"unit": calibrated.unit, "sigma": calibrated.scale, "threshold": calibrated.threshold}
        found = plain_weighted(left, asked, noise)
        released += found
        left = [(person, item) for person, item in left if item not in found]
    assert mechanism.run(data, Noise(6)).items() == sorted(released)
    assert len(SHARES) == len(mechanism._calibrated()[0])


@given(unit=st.integers(0, 20).map(lambda bits: 2.0**-bits), items=st.integers(1, 200))
def test_weights_in_units_never_exceed_length_one(unit, items):
    for k, weight in enumerate(unit_weights(unit, items), start=1):
        assert k * weight**2 <= (1 / unit) ** 2 < k * (weight + 1) ** 2
        assert weight <= floor(1 / (sqrt(k) * unit) + 1e-9)


PEOPLE = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True), max_size=12)


def descended(people, cap):
    return descend([item for items in people for item in items], [len(items) for items in people], 7, cap)


@settings(max_examples=200, deadline=None)
@given(people=PEOPLE, more=st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True), at=st.integers(0, 12))
def test_one_person_more_moves_the_descended_weights_by_at_most_one(people, more, at):
    for cap in (0.3, 1.7, 4.0):
        with_her = [*people[:at], more, *people[at:]]
        assert np.linalg.norm(descended(with_her, cap) - descended(people, cap)) <= 1 + 1e-12


@settings(max_examples=100, deadline=None)
@given(people=PEOPLE)
def test_descent_is_the_one_of_the_definition(people):
    cap = 1.9
    weights = np.zeros(7)
    for items in people:
        gap = np.zeros(7)
        gap[items] = cap - weights[items]
        weights += gap / max(np.linalg.norm(gap), 1)
    assert np.allclose(descended(people, cap), weights, atol=1e-12)


def test_policy_publishes_the_items_of_many(data, pairs):
    mechanism = PolicyGaussian(**ASKED)
    made = mechanism.run(data, Noise(2))
    noise = Noise(2)
    draw_salt(noise)
    frequent = people_per_item(pairs, 3, draw_salt(noise)).most_common(3)
    assert {item for item, _ in frequent} <= set(made.items())
    assert mechanism.run(data, Noise(2)).items() == made.items()
    assert sum(map(len, kept(pairs, 3, b"").values())) > len(made)


def test_a_step_of_the_descent_is_wrong_by_two_units_at_most():
    """Floats would be wrong by some 1e-13 here, and a million people by more than the noise is calibrated for."""
    cap, people = 3000.0, [[0, 1, 2], [1, 3], [0, 1, 2, 3, 4]]
    with localcontext(Context(prec=60)):
        exact = [Decimal(0)] * 7
        for items in people:
            gaps = {item: Decimal(cap) - exact[item] for item in items}
            length = sum(gap * gap for gap in gaps.values()).sqrt()
            for item, gap in gaps.items():
                exact[item] += gap / length
    found = descend([item for items in people for item in items], [len(items) for items in people], 7, cap)
    assert found.tolist() == [float(weight) for weight in exact]


def test_choices_have_the_chances_asked_for():
    chances = np.repeat([0.0, 1e-30, 0.25, 0.5, 1.0], 20_000)
    chosen = choose_with_chance(chances, Noise(8)).reshape(5, -1).mean(axis=1)
    assert chosen[0] == chosen[1] == 0
    assert chosen[4] == 1
    assert abs(chosen[2] - 0.25) < 0.016  # five standard deviations
    assert abs(chosen[3] - 0.5) < 0.018


def test_clicks_on_a_public_list_all_get_noise_zeros_too(engine):
    clicks = [("p", "q", "u1"), ("p", "q", "u2"), ("p", "q", "u9"), ("r", "q", "u1"), ("r", "other", "u1")]
    made = engine.table(
        pa.table(dict(zip(("person", "user_query", "object_id"), zip(*clicks, strict=True), strict=True)))
    )
    listed = pa.table({"user_query": ["q", "q", "q", "q", None], "object_id": ["u1", "u2", "u3", "u1", "u1"]})
    data = ClickData(made, engine.table(listed))
    mechanism = ClickCounts(epsilon=400.0, items_per_person=2)  # so little noise that the counts show
    assert mechanism.run(data, Noise(1)).people() == {("q", "u1"): 2, ("q", "u2"): 1, ("q", "u3"): 0}
    noisy = [ClickCounts(epsilon=1.0).run(data, Noise(seed)).people() for seed in range(20)]
    assert all(len(found) == 3 for found in noisy)
    assert len({found["q", "u3"] for found in noisy}) > 5
    assert ClickCounts(epsilon=1.0).calibration(FACTS) == {"scale": 10.0}
    assert ClickCounts(epsilon=1.0, neighbours="replace-one").calibration(FACTS) == {"scale": 20.0}


@pytest.fixture(scope="module")
def log(engine):
    return engine.view(
        """select 'p' || p as client_id, timestamp '2024-03-05' + to_minutes(q) as "timestamp",
        'query ' || q as user_query, 'url' as object_id from range(120) t(p), range(3) s(q)"""
    )


def test_a_log_release_publishes_each_kind_under_one_promise(log):
    mechanism = LogRelease(mechanism=CountGaussian(epsilon=4.0, delta=0.001, items_per_person=3), kinds=tuple(KINDS))
    found = mechanism.run(log, Noise(1))
    assert {kind: len(found[kind]) for kind in ("queries", "clicks", "pairs")} == {
        "queries": 3,
        "clicks": 3,
        "pairs": 2,
    }
    assert len(found["keywords"]) == 4  # three of the four words of each person still are 90 people for each
    promised = mechanism.guarantee(FACTS)
    assert (promised.epsilon, promised.delta) == (4.0, 0.001)
    parts = [part for _, part in mechanism.parts()]
    assert sum(part.epsilon for part in parts) > 4.5, "Gaussian parts get more than their share"
    assert sum(part.delta for part in parts) <= 0.001


def test_other_noise_composes_by_adding_up():
    mechanism = LogRelease(mechanism=Zealous(epsilon=1.0), kinds=("queries", "pairs"), shares=(0.75, 0.25))
    assert [part.epsilon for _, part in mechanism.parts()] == [0.75, 0.25]
    assert mechanism.guarantee(FACTS).epsilon == pytest.approx(1.0)
    assert mechanism.guarantee(FACTS).neighbours == "replace-one"


def test_one_kind_is_the_mechanism_itself(log):
    mechanism = LogRelease(mechanism=CountGaussian(**ASKED), kinds=("queries",), items_per_person=(2,))
    assert mechanism.parts() == (("queries", CountGaussian(epsilon=2.0, delta=0.01, items_per_person=2)),)
    alone = CountGaussian(epsilon=2.0, delta=0.01, items_per_person=2)
    assert mechanism.run(log, Noise(5))["queries"] == alone.run(contributions(log, KINDS["queries"]), Noise(5))


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"kinds": ()}, "at least one"),
        ({"kinds": ("queries", "queries")}, "differ"),
        ({"kinds": ("words",)}, "'words'"),
        ({"kinds": ("queries", "pairs"), "shares": (0.5, 0.6)}, "sum up to 1"),
        ({"shares": (0.5, 0.5)}, "one number for each"),
        ({"shares": (inf,)}, "shares must be finite"),
        ({"items_per_person": (1, 2)}, "one number for each"),
    ],
)
def test_impossible_log_releases_are_refused(wrong, word):
    with pytest.raises(ParameterError, match=word):
        LogRelease(**wrong)


SIMPLE = (CountGaussian, LaplaceThreshold, PolicyGaussian, Rounds, TruncatedGeometric, WeightedGaussian, Zealous)


@pytest.mark.parametrize("mechanism", SIMPLE, ids=lambda mechanism: mechanism.__name__)
def test_nothing_in_nothing_out(engine, mechanism):
    empty = engine.table(pa.table({"person": pa.array([], pa.string()), "item": pa.array([], pa.string())}))
    assert len(mechanism(**ASKED).run(empty, Noise())) == 0


@pytest.mark.parametrize("mechanism", SIMPLE, ids=lambda mechanism: mechanism.__name__)
def test_a_seed_repeats_the_release_on_any_number_of_threads(pairs, mechanism):
    found = []
    for threads in (1, 4):
        with EmbeddedEngine(threads=threads) as engine:
            rows = pa.table({"person": [person for person, _ in pairs], "item": [item[0] for _, item in pairs]})
            found.append(
                mechanism(**ASKED).run(
                    engine.table(rows if threads == 1 else rows.take(np.arange(len(rows))[::-1])), Noise(12)
                )
            )
    assert found[0] == found[1]
