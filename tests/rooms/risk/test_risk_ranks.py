import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from risk_worlds import ASKED, NAMES, WEEK, heard, models_of, people_of, rows

from aidos.errors import ParameterError
from aidos.rooms.risk.measures import MEASURES, RiskQuestion
from aidos.rooms.risk.ranks import Bootstrap, percentiles, rank_among, rank_people

MODELS = models_of()
risk_lists = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), min_size=1, max_size=30).map(np.array)


@given(risks=risk_lists)
def test_ranks_are_counts_of_people(risks):
    best, mean, worst = (rank_people(risks, ties=ties) for ties in ("best", "mean", "worst"))
    for person, risk in enumerate(risks):
        above, equal = (risks > risk).sum(), (risks == risk).sum()
        assert best[person] == above + 1
        assert worst[person] == above + equal
        assert mean[person] == above + (equal + 1) / 2
    assert mean.sum() == len(risks) * (len(risks) + 1) / 2


@given(risks=risk_lists)
def test_a_percentile_is_the_share_of_the_others_below_with_half_of_the_equals(risks):
    found = percentiles(risks)
    for person, risk in enumerate(risks):
        others = np.delete(risks, person)
        expected = ((others < risk).sum() + (others == risk).sum() / 2) / len(others) if len(others) else 0.5
        assert found[person] == pytest.approx(expected)


@given(risks=risk_lists, ties=st.sampled_from(["best", "mean", "worst"]))
def test_a_rank_among_others_is_the_rank_of_one_who_joins_them(risks, ties):
    found = rank_among(risks, risks[1:], ties=ties)
    assert found[0] == rank_people(risks, ties=ties)[0]


def test_a_community_of_one_and_one_of_equals():
    assert rank_people(np.array([0.3])).tolist() == [1.0]
    assert percentiles(np.array([0.3])).tolist() == [0.5]
    assert rank_people(np.zeros(4), ties="best").tolist() == [1.0] * 4
    assert rank_people(np.zeros(4), ties="worst").tolist() == [4.0] * 4
    assert percentiles(np.zeros(4)).tolist() == [0.5] * 4
    assert rank_among(np.array([0.1]), np.array([])).tolist() == [1.0]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_risks_that_are_no_numbers_are_refused(wrong):
    with pytest.raises(ParameterError, match="1 of 2 risks are not numbers"):
        rank_people(np.array([0.5, wrong]))
    with pytest.raises(ParameterError, match="not numbers"):
        rank_among(np.array([0.5]), np.array([wrong]))


def test_lists_that_are_none_are_refused():
    for wrong in (np.zeros((2, 2)), np.array([])):
        with pytest.raises(ParameterError, match="one for every person"):
            percentiles(wrong)
    with pytest.raises(ParameterError, match="ties must be"):
        rank_people(np.array([1.0, 2.0]), ties="first")


def question_of(given):
    return RiskQuestion(people=people_of(given), topics=ASKED, models=MODELS)


@settings(max_examples=20, deadline=None)
@given(given=rows, name=st.sampled_from(list(MEASURES)), data=st.data())
def test_intervals_are_repeatable_and_lie_within_the_community(given, name, data):
    question = question_of(heard(given))
    measure = MEASURES[name]
    risks = measure.risk(question.people, ASKED, MODELS)
    person = data.draw(st.integers(0, len(question.people) - 1))
    found = Bootstrap(resamples=100).intervals(measure, question, person, risks)
    assert found == Bootstrap(resamples=100).intervals(measure, question, person, risks)
    for topic, interval in enumerate(found):
        assert 1 <= interval.low <= interval.high <= len(question.people) == interval.people
        assert 0 <= interval.percentile_low <= interval.percentile_high <= 1
        assert interval.rank == rank_people(risks[:, topic])[person]
        assert interval.percentile == percentiles(risks[:, topic])[person]


def test_an_interval_holds_the_share_of_redrawn_ranks_that_it_says():
    # One of five entries is on the topic: redrawn histories lack it with probability (4/5)^5, which is 0.328.
    mine = [("mine", week * WEEK, NAMES[10] if week == 0 else NAMES[20]) for week in range(5)]
    others = [(f"p{number}", 0, f"{NAMES[10]} {NAMES[0]}" if number < 4 else NAMES[20]) for number in range(9)]
    question = question_of([*mine, *others, ("all", 0, " ".join(NAMES[:18]))])
    risks = MEASURES["bow"].risk(question.people, ASKED, MODELS)
    person, topic = question.people.find("mine"), ASKED.index("grief")

    def interval(coverage, seed=1):
        spec = Bootstrap(resamples=4000, coverage=coverage, seed=seed, ties="worst")
        return spec.intervals(MEASURES["bow"], question, person, risks)[topic]

    assert (interval(0.9).low, interval(0.9).high) == (1.0, 11.0)
    assert (interval(0.3).low, interval(0.3).high) == (1.0, 1.0)  # 0.328 of the ranks are above 1, 0.35 lie outside
    draws = np.random.default_rng(0).integers(5, size=(20_000, 5))
    redrawn = MEASURES["bow"].redrawn(question.people, person, ("grief",), MODELS, draws)[:, 0]
    assert (redrawn == 0).mean() == pytest.approx(0.8**5, abs=0.01)


def test_one_entry_leaves_nothing_to_draw():
    question = question_of(heard([("a", 0, NAMES[10]), ("b", 0, NAMES[20])]))
    for name in ("bow", "lda-dt", "entropy"):
        risks = MEASURES[name].risk(question.people, ASKED, MODELS)
        for interval in Bootstrap(resamples=100).intervals(MEASURES[name], question, 0, risks):
            assert interval.entries == 1
            assert interval.low == interval.high == interval.rank


def test_somebody_alone_is_first_and_in_the_middle():
    question = question_of([("a", 0, " ".join(NAMES[:18])), ("a", WEEK, NAMES[20])])
    risks = MEASURES["bow-dt"].risk(question.people, ASKED, MODELS)
    interval = Bootstrap(resamples=100).intervals(MEASURES["bow-dt"], question, 0, risks)[0]
    assert (interval.rank, interval.low, interval.high, interval.people) == (1.0, 1.0, 1.0, 1)
    assert (interval.percentile, interval.percentile_low, interval.percentile_high) == (0.5, 0.5, 0.5)


def test_settings_of_the_bootstrap_have_limits():
    with pytest.raises(ParameterError, match=r"resamples.*coverage.*ties"):
        Bootstrap(resamples=3, coverage=1.0, ties="none")
    question = question_of(heard([("a", 0, NAMES[10])]))
    with pytest.raises(ParameterError, match="risks must be 2 by 4"):
        Bootstrap().intervals(MEASURES["bow"], question, 0, np.zeros((2, 1)))
