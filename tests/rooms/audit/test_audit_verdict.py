import numpy as np
import pytest
from audit_pairs import draw_pairs, noisy_views
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.chance import FEWEST, MANY, sign_flip_p_values
from aidos.rooms.audit.numerics import ndtri
from aidos.rooms.audit.power import estimate_power, power_of, queries_needed
from aidos.rooms.audit.shifts import rank_shift, shifts_by_query, within_list_squares
from aidos.rooms.audit.verdict import (
    direction_p_value,
    discoveries,
    judge,
    simulated_p_values,
)
from aidos.studies.audit.engines import regress_topics
from aidos.studies.audit.surrogate import HiddenProfile, sample_audit


def alarm_limit(sets, level=0.05):
    return level + 3 * np.sqrt(level * (1 - level) / sets)


def followed_by_noise(generator, *, first_about=None):
    """Lists of the law f: the personalised one is the vanilla one with noise."""
    sampled = sample_audit(HiddenProfile(rate=0.0, concentration=0.5, topics=20), generator, queries=80).pairs
    if first_about is None:
        return sampled
    maps = np.array([sampled.maps.row(item) for item in range(len(sampled.maps))])
    maps[sampled.items[sampled.ranks == 1]] = np.eye(20)[first_about]
    return PairArrays(starts=sampled.starts, items=sampled.items, ranks=sampled.ranks, maps=TopicMaps.from_dense(maps))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two views", "two views and a control", "noise of the law", "a topic always on top"])
def test_false_alarms_on_200_sets_without_a_profile_stay_at_the_level(kind):
    alarms = 0
    for seed in range(200):
        generator = np.random.default_rng([seed, 9])
        if kind.startswith("two views"):
            pairs, control = noisy_views(generator, queries=80, topics=20)
            found = judge(pairs, control if "control" in kind else None, simulations=99, seed=seed)
        else:
            first_about = 3 if "top" in kind else None
            found = judge(followed_by_noise(generator, first_about=first_about), simulations=99, seed=seed)
        alarms += found.personalised
        assert found.personalised or not found.topics.any()
    assert alarms / 200 <= alarm_limit(200)


def test_halves_that_agree_show_a_profile_that_no_single_topic_shows():
    weak = HiddenProfile(topics=30, favoured=12, weight=3, rate=0.6, mix=0.3, concentration=1.2)
    alone, together = 0, 0
    for seed in range(12):
        pairs = sample_audit(weak, np.random.default_rng([seed, 4]), queries=80, length=20).pairs
        generator = np.random.default_rng(seed)
        flipped = sign_flip_p_values(shifts_by_query(pairs), 1999, generator)
        alone += max(flipped[0], simulated_p_values(pairs, 199, generator)[0]) <= 0.05
        together += judge(pairs, seed=seed).personalised
    assert together >= alone + 3


@pytest.mark.parametrize("controlled", [False, True])
def test_halves_of_lists_without_a_profile_agree_no_more_often_than_the_level_says(controlled):
    alarms = 0
    for seed in range(60):
        generator = np.random.default_rng([seed, 5])
        pairs, control = noisy_views(generator, queries=40, topics=10)
        alarms += direction_p_value(pairs, control if controlled else None, generator, simulations=79) <= 0.05
    # Above this in one of 500 runs where the rate is 5 %.
    assert alarms / 60 <= alarm_limit(60)


def test_few_or_equal_lists_have_no_direction():
    pairs = draw_pairs(np.random.default_rng(1), queries=30)
    assert direction_p_value(pairs.take(np.arange(FEWEST - 1)), None, np.random.default_rng(1)) == 1
    same = PairArrays(starts=pairs.starts, items=pairs.items, ranks=pairs.positions, maps=pairs.maps)
    assert direction_p_value(same, None, np.random.default_rng(1)) == 1
    assert direction_p_value(same, same, np.random.default_rng(1)) == 1


def test_sign_flips_alone_would_cry_wolf_where_a_topic_always_stands_on_top():
    alarms = np.zeros(3)
    for seed in range(20):
        generator = np.random.default_rng(seed)
        pairs = followed_by_noise(generator, first_about=3)
        verdict = judge(pairs, simulations=99)
        flipped = sign_flip_p_values(shifts_by_query(pairs), 999, generator)[0]
        simulated = simulated_p_values(pairs, 99, generator)[0]
        alarms += (flipped <= 0.05, simulated <= 0.05, verdict.personalised)
        assert verdict.personalised or "no personalisation detected at level 0.05" in str(verdict)
    assert alarms[0] == 20
    assert max(alarms[1:]) / 20 <= alarm_limit(20)


def test_sign_flips_equal_the_list_of_all_of_them():
    generator = np.random.default_rng(3)
    shifts = generator.normal(0.4, 1, (8, 3))
    signs = np.array(np.meshgrid(*[[1, -1]] * 8)).reshape(8, -1).T
    scaled = shifts / np.sqrt((shifts**2).sum(axis=0))
    sums, seen = np.abs(signs @ scaled), np.abs(scaled.sum(axis=0))
    overall, each, *_ = sign_flip_p_values(shifts, 20_000, generator)
    assert overall == pytest.approx((sums.max(axis=1) >= seen.max() - 1e-9).mean(), abs=0.015)
    assert each == pytest.approx((sums >= seen - 1e-9).mean(axis=0), abs=0.015)


def test_a_profile_is_detected_and_its_topics_named():
    sampled = sample_audit(HiddenProfile(topics=20, favoured=3), np.random.default_rng(1), queries=300)
    found = judge(sampled.pairs)
    assert found.personalised
    assert "personalisation detected" in str(found)
    assert found.topics[np.flatnonzero(sampled.weights)].all()
    assert found.topics.sum() <= 5
    assert not found.controlled


def test_with_a_control_noise_is_told_from_a_profile():
    generator = np.random.default_rng(2)
    pairs, control = noisy_views(generator, queries=200, topics=10)
    assert not judge(pairs, control).personalised
    lifted = 4 * pairs.maps.dot(np.eye(10)[2])[pairs.items] - pairs.positions
    order = np.lexsort((-lifted, pairs.query_of))
    personalised = PairArrays(starts=pairs.starts, items=pairs.items[order], ranks=pairs.ranks[order], maps=pairs.maps)
    found = judge(personalised, control)
    assert found.controlled
    assert found.personalised
    assert found.topics[2]
    assert np.array_equal(judge(personalised, control).topic_p_values, found.topic_p_values)


def test_unchanged_lists_give_no_alarm():
    lists = [[0, 1, 2], [3, 4, 5]] * 5
    found = judge(PairArrays.from_lists(lists, lists, TopicMaps.from_dense(np.eye(6))))
    assert found.p_value == 1
    assert (found.topic_p_values == 1).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.01, 0.5))
def test_discoveries_follow_benjamini_and_hochberg(p_values, level):
    ordered = sorted(p_values)
    passing = [rank for rank, value in enumerate(ordered, 1) if value <= level * rank / len(ordered)]
    limit = ordered[max(passing) - 1] if passing else -1
    assert discoveries(np.array(p_values), level).tolist() == [value <= limit for value in p_values]


def test_what_cannot_be_judged_is_refused():
    pairs = draw_pairs(np.random.default_rng(0))
    with pytest.raises(ParameterError, match="level"):
        judge(pairs, level=0)
    with pytest.raises(ParameterError, match="19"):
        simulated_p_values(pairs, 18, np.random.default_rng(0))
    with pytest.raises(InputError, match="same queries"):
        judge(pairs, pairs.take([0]))


def test_rank_shift_is_the_sum_of_the_specification():
    pairs = draw_pairs(np.random.default_rng(4), queries=10)
    shifts, squares = np.zeros(pairs.topic_count), np.zeros(pairs.topic_count)
    for query in range(len(pairs)):
        vanilla, personalised = (items.tolist() for items in pairs.lists(query))
        maps = {item: pairs.maps.row(item) for item in vanilla}
        mean = np.mean(list(maps.values()), axis=0)
        for item in vanilla:
            shifts += (vanilla.index(item) - personalised.index(item)) * (maps[item] - mean)
            squares += (maps[item] - mean) ** 2
    assert shifts_by_query(pairs).sum(axis=0) == pytest.approx(shifts, abs=1e-5)
    assert within_list_squares(pairs) == pytest.approx(squares, abs=1e-5)
    assert rank_shift(pairs) == pytest.approx(shifts / np.sqrt(squares), abs=1e-4)
    assert regress_topics(pairs) == pytest.approx(shifts / squares, abs=1e-4)


def test_power_as_planned_is_the_power_that_simulation_finds():
    effect, topics = 0.25, 10
    needed = queries_needed(effect, topics)
    assert power_of(effect, needed, topics) == pytest.approx(0.8, abs=0.01)
    generator, detected = np.random.default_rng(0), 0
    for _ in range(100):
        shifts = generator.normal(0, 1, (needed, topics))
        shifts[:, 0] += effect
        detected += sign_flip_p_values(shifts, 199, generator)[0] <= 0.05
    assert detected / 100 == pytest.approx(0.8, abs=0.12)
    assert queries_needed(0.0, topics) is None
    with pytest.raises(ParameterError, match="power"):
        queries_needed(0.1, 5, power=1)
    with pytest.raises(ParameterError, match="topic"):
        power_of(0.1, 5, 0)


def test_a_pilot_says_how_many_queries_are_needed():
    profile = HiddenProfile(topics=20, favoured=2)
    pilot = estimate_power(sample_audit(profile, np.random.default_rng(1), queries=200).pairs)
    assert pilot.queries is not None
    assert 20 < pilot.queries < 500
    assert judge(sample_audit(profile, np.random.default_rng(7), queries=2 * pilot.queries).pairs).personalised
    assert pilot.fewest is not None
    assert pilot.fewest <= pilot.queries
    nothing = estimate_power(noisy_views(np.random.default_rng(3))[0])
    assert nothing.queries is None or nothing.queries > 400


def test_the_fewest_follow_from_the_score_of_the_verdict_and_the_others_from_its_square_less_chance():
    pairs = sample_audit(HiddenProfile(topics=20, favoured=2), np.random.default_rng(1), queries=200).pairs
    found = judge(pairs)
    plan = estimate_power(pairs, verdict=found)
    largest = np.abs(found.topic_scores).max()
    assert plan == estimate_power(pairs)
    assert abs(found.topic_scores[plan.topic]) == largest
    assert plan.fewest == np.ceil(200 * ((found.threshold + 0.8416212) / largest) ** 2)
    assert found.threshold == pytest.approx(-ndtri(0.05 / 40), abs=0.3)
    assert plan.queries == queries_needed(np.sqrt((largest**2 - 2 * np.log(20)) / 200), 20)


def with_a_slight_pull(seed, queries, topics=20):
    """Two views that are the same noise, of which one lifts items of the first topic now and then."""
    generator = np.random.default_rng(seed)
    pairs, control = noisy_views(generator, queries=queries, topics=topics)
    about = np.array([pairs.maps.row(item)[0] for item in range(len(pairs.maps))])
    lists = [pairs.items[pairs.starts[query] : pairs.starts[query + 1]] for query in range(queries)]
    pulled = [sorted(range(len(one)), key=lambda place, one=one: place - 3 * about[one[place]]) for one in lists]
    chosen = [one[order] if generator.random() < 0.5 else one for one, order in zip(lists, pulled, strict=True)]
    vanilla = [
        one[np.argsort(pairs.ranks[pairs.starts[query] : pairs.starts[query + 1]])] for query, one in enumerate(lists)
    ]
    return PairArrays.from_lists(vanilla, chosen, pairs.maps), control


def test_a_plan_with_a_second_vanilla_list_is_made_by_the_difference_that_the_verdict_tests():
    pairs, control = with_a_slight_pull(0, 120)
    shifts = shifts_by_query(pairs) - shifts_by_query(control)
    scores = shifts.sum(axis=0) / np.sqrt((shifts**2).sum(axis=0))
    plan = estimate_power(pairs, control)
    assert plan.seen == pytest.approx(np.abs(scores).max() / np.sqrt(120))
    assert plan.seen != pytest.approx(estimate_power(pairs).seen)


def test_the_range_of_audits_that_detected_nothing_holds_the_number_that_is_really_needed():
    many = judge(*with_a_slight_pull(99, 4000))
    needed = queries_needed(many.topic_scores[0] / np.sqrt(4000), 20)
    held = []
    for seed in range(15):
        pairs, control = with_a_slight_pull(seed, 60)
        verdict = judge(pairs, control)
        plan = estimate_power(pairs, control, verdict=verdict)
        if not verdict.personalised:
            assert plan.fewest > 60
            held.append(plan.fewest <= needed and (plan.queries is None or needed <= plan.queries))
    assert len(held) > 10
    assert np.mean(held) > 0.8


def test_where_both_lists_are_the_same_no_number_is_named():
    pairs = draw_pairs(np.random.default_rng(1), queries=30)
    same = PairArrays(starts=pairs.starts, items=pairs.items, ranks=pairs.positions, maps=pairs.maps)
    plan = estimate_power(same)
    assert (plan.seen, plan.effect, plan.fewest, plan.queries) == (0, 0, None, None)
    plan = estimate_power(same, same)
    assert (plan.fewest, plan.queries) == (None, None)


def test_a_topic_that_only_stands_on_top_promises_nothing_soon():
    pairs = followed_by_noise(np.random.default_rng(4), first_about=3)
    alone = sign_flip_p_values(shifts_by_query(pairs), 199, np.random.default_rng(0))
    assert abs(alone.scores[3]) > 4
    plan = estimate_power(pairs)
    assert not judge(pairs).personalised
    assert plan.fewest > len(pairs)
    assert plan.queries is None or plan.queries > 2 * len(pairs)


def test_of_many_queries_single_topics_have_the_normal_tail_and_rare_ones_are_counted(monkeypatch):
    generator = np.random.default_rng(4)
    shifts = generator.normal(0.008, 1, (MANY, 3))
    shifts[:, 2] = 0
    shifts[:3, 2] = 1
    tail = sign_flip_p_values(shifts, 1999, np.random.default_rng(1))
    monkeypatch.setattr("aidos.rooms.audit.chance.MANY", MANY + 1)
    counted = sign_flip_p_values(shifts, 1999, np.random.default_rng(1))
    assert tail[0] == counted[0]
    assert tail[1] == pytest.approx(counted[1], abs=0.04)
    assert tail[1][2] == counted[1][2] == pytest.approx(0.25, abs=0.05)
    assert tail[1][0] != counted[1][0]
