import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_state import ALL, LOUD, MODELS, PLAIN, arrivals, made, people_of, question_of, state_of
from risk_worlds import ASKED, NAMES, WEEK

from aidos.core.mechanism import Finding
from aidos.errors import InputError, ParameterError
from aidos.rooms.risk.arrivals import Arrival
from aidos.rooms.risk.entries import bucket_numbers
from aidos.rooms.risk.knowledge import make_space
from aidos.rooms.risk.measure import RiskQuestion
from aidos.rooms.risk.measures import MEASURES, TopicalRisk
from aidos.rooms.risk.personal import Alert, Detail, find_draft, find_person
from aidos.rooms.risk.ranks import Bootstrap, rank_among
from aidos.rooms.risk.state import RiskState

FEW = Bootstrap(resamples=100, coverage=0.8, seed=3)
QUICK = Detail(bootstrap=None)
OTHERS = [
    LOUD,
    made("ben", f"{NAMES[0]} {NAMES[5]}", 0, "b1"),
    made("cem", f"{NAMES[10]} {NAMES[20]}", 0, "c1"),
    made("dee", NAMES[19], 0, "d1"),
]
ANN = [
    made("ann", f"{NAMES[20]} {NAMES[21]}", 0, "a1"),
    made("ann", f"{NAMES[0]} {NAMES[1]} {NAMES[10]}", WEEK, "a2"),
    made("ann", f"{NAMES[0]} {NAMES[1]} {NAMES[2]}", 3 * WEEK, "a3"),
]


def report_of(own, others=OTHERS, **options):
    found = find_person(state_of([*others, *own]), people_of(own), **{"detail": QUICK, **options})
    assert isinstance(found, Finding)
    assert found.about == "one person"
    return found.value


def test_a_report_tells_ranks_of_every_topic_and_measure():
    report = report_of(ANN)
    assert (report.person, report.entries, report.people) == ("ann", 3, 5)
    assert {(rank.topic, rank.measure) for rank in report.ranks} == {(topic, each) for topic in ASKED for each in ALL}
    own = report.find("debt", MEASURES["bow"])
    assert own.standing.risk == pytest.approx(3 / np.sqrt(3 * 4))
    assert (own.standing.best, own.standing.people) == (1, 5)
    assert own.standing.percentile == 1.0


def test_the_entry_that_puts_her_there_is_told_with_the_words_that_count():
    reasons = report_of(ANN).find("debt", MEASURES["bow"]).reasons
    assert [(reason.entry, reason.place) for reason in reasons] == [("a3", 2)]
    assert {word.word for word in reasons[0].words} == set(NAMES[:3])
    weekly = report_of(ANN).find("debt", TopicalRisk(space="bow", time=True)).reasons
    assert [reason.entry for reason in weekly] == ["a3", "a2"]
    assert NAMES[10] not in {word.word for word in weekly[1].words}
    assert not report_of(ANN).find("hiv", MEASURES["bow"]).reasons


@given(own=arrivals(most=4))
@settings(max_examples=10)
def test_a_word_counts_what_the_entry_loses_without_it(own):
    own = [made("ann", each.text, each.when.timestamp(), each.entry) for each in own]
    texts = {each.entry: each.text.split() for each in own}
    report = report_of(own, detail=Detail(bootstrap=None, words=2))
    for space in ("bow", "lda", "w2v"):
        compared = make_space(space, ASKED, MODELS, PLAIN, domains=False)

        def near(words, at, compared=compared):
            entry = people_of([Arrival(person="x", text=" ".join(words))])
            return compared.bind(entry.vocabulary)(entry.bags)[0, at]

        for at, topic in enumerate(ASKED):
            for reason in report.find(topic, MEASURES[space]).reasons:
                words = texts[reason.entry]
                whole = near(words, at)
                assert reason.weight == whole == max(near(text, at) for text in texts.values())
                lost = {left: whole - near([word for word in words if word != left], at) for left in words}
                best = sorted((loss for loss in lost.values() if loss > 1e-6), reverse=True)[:2]
                assert [word.weight for word in reason.words] == pytest.approx(best)
                assert all(word.weight == pytest.approx(lost[word.word]) for word in reason.words)


def test_baselines_tell_the_rarest_word_first():
    own = [made("ann", NAMES[0], 0, "shared"), made("ann", NAMES[1], 1, "rare")]
    others = [LOUD, *(made(name, NAMES[0], 0, name) for name in ("ben", "cem", "dee"))]
    reasons = report_of(own, others).find("debt", MEASURES["entropy"]).reasons
    assert [(reason.entry, reason.words[0].word) for reason in reasons] == [("rare", NAMES[1]), ("shared", NAMES[0])]
    assert reasons[0].weight > reasons[1].weight > 0


@given(own=arrivals(most=5), others=arrivals(50, most=6))
@settings(max_examples=10)
def test_history_is_as_if_she_had_stopped_there_among_the_others_of_today(own, others):
    own = [made("ann", each.text, each.when.timestamp(), each.entry) for each in own]
    report = report_of(own, [LOUD, *others])
    seconds = np.array([int(each.when.timestamp()) for each in own])
    buckets = bucket_numbers(seconds, 7)
    stages = np.unique(buckets)
    for stage, bucket in enumerate(stages):
        then = [each for each, number in zip(own, buckets, strict=True) if number <= bucket]
        expected = state_of([LOUD, *others, *then]).standings("ann")
        for rank in report.ranks:
            assert len(rank.history) == len(stages)
            assert rank.history[stage].standing == expected[rank.measure, rank.topic]
            assert rank.history[stage].entries == int((buckets == bucket).sum())
            first = rank.history[stage].begins
            assert first.weekday() == 0
            assert bucket_numbers(np.array([int(first.timestamp())]), 7)[0] == bucket
    assert all(rank.history[-1].standing == rank.standing for rank in report.ranks)


@given(own=arrivals(least=2, most=5), others=arrivals(50, most=6))
@settings(max_examples=5)
def test_intervals_hold_ranks_of_entries_drawn_again(own, others):
    own = [made("ann", each.text, each.when.timestamp(), each.entry) for each in own]
    full = [LOUD, *others, *own]
    report = report_of(own, [LOUD, *others], detail=Detail(bootstrap=FEW))
    question = question_of(full)
    person = question.people.find("ann")
    stream = np.random.default_rng([FEW.seed, zlib.crc32(b"ann")])
    draws = stream.integers(len(own), size=(FEW.resamples, len(own)))
    state = state_of(full)
    for measure in ALL:
        redrawn = measure.redrawn(question.people, person, ASKED, MODELS, draws)
        for at, topic in enumerate(ASKED):
            risks = dict(zip(state.register.ids, state.risks(topic, measure), strict=True))
            others_risks = np.array([risk for name, risk in risks.items() if name != "ann"])
            ranks = rank_among(redrawn[:, at], others_risks)
            found = report.find(topic, measure)
            assert found.interval.low == np.quantile(ranks, 0.1, method="lower")
            assert found.interval.high == np.quantile(ranks, 0.9, method="higher")
            assert (found.interval.rank, found.interval.entries) == (found.standing.best, len(own))
            assert found.interval.percentile == found.standing.percentile
            assert 0 <= found.interval.percentile_low <= found.interval.percentile_high <= 1


def test_with_one_entry_the_interval_is_the_rank():
    report = report_of(ANN[2:], detail=Detail(bootstrap=FEW))
    for rank in report.ranks:
        assert rank.interval.low == rank.interval.high == rank.interval.rank == rank.standing.best


def test_alerts_are_topics_above_a_percentile_or_a_risk():
    above = {(rank.topic, rank.measure.name) for rank in report_of(ANN).alerts}
    assert ("debt", "bow") in above
    assert ("hiv", "bow") not in above
    by_risk = report_of(ANN, alert=Alert(percentile=None, risk=0.3)).alerts
    assert {rank.topic for rank in by_risk if rank.measure == MEASURES["bow"]} == {"debt", "banks", "grief"}
    assert not report_of(ANN, alert=None).alerts
    shares = [rank.standing.percentile for rank in report_of(ANN, alert=Alert(percentile=0.2)).alerts]
    assert shares == sorted(shares, reverse=True)
    with pytest.raises(ParameterError, match="a percentile or a risk is needed"):
        Alert(percentile=None)
    with pytest.raises(ParameterError, match="percentile must be less than 1"):
        Alert(percentile=1.0)


def test_no_risk_is_no_reason_for_an_alert():
    quiet = [made(name, NAMES[19], 0, name) for name in "abc"]
    state = state_of([LOUD, *quiet])
    assert state.standing("a", "debt", MEASURES["bow"]).percentile == pytest.approx(1 / 3)
    found = find_person(state, people_of(quiet[:1]), alert=Alert(percentile=0.1), detail=QUICK).value
    assert all(rank.standing.risk > 0 for rank in found.alerts)
    assert not [rank for rank in found.alerts if rank.measure == MEASURES["bow"]]


def test_a_draft_tells_ranks_before_and_after_and_warns_when_it_crosses():
    state = state_of([*OTHERS, *ANN])
    when = datetime.fromtimestamp(4 * WEEK, tz=UTC)
    found = find_draft(state, "ann", " ".join(NAMES[13:16]), when=when)
    assert found.about == "one person"
    effects = {(effect.topic, effect.measure): effect for effect in found.value}
    own = effects["hiv", MEASURES["bow"]]
    assert own.before == state.standing("ann", "hiv", MEASURES["bow"])
    assert (own.before.best, own.after.best, own.places) == (2, 1, 1)
    assert own.alert
    same = effects["debt", MEASURES["bow"]]
    assert (same.before.best, same.after.best, same.alert) == (1, 1, False)
    assert not any(each.alert for each in find_draft(state, "ann", NAMES[13], when=when, alert=None).value)
    newcomer = find_draft(state, "zed", NAMES[13], when=when).value
    assert all(each.before is None and each.places == 0 for each in newcomer)
    assert all(each.after.people == len(state) + 1 for each in newcomer)
    with pytest.raises(ParameterError, match="no entry has a time"):
        find_draft(state, "ann", NAMES[13])


def test_reports_are_of_one_known_person_and_of_the_entries_the_state_knows():
    state = state_of([*OTHERS, *ANN])
    with pytest.raises(ParameterError, match="these entries are of 2"):
        find_person(state, people_of([*ANN, OTHERS[1]]))
    with pytest.raises(ParameterError, match="nobody has that name"):
        find_person(state, people_of([made("zed", "x", 0, "z")]))
    with pytest.raises(InputError, match="not the entries that the state knows"):
        find_person(state, people_of(ANN[:2]))
    with pytest.raises(ParameterError, match="not in this report"):
        report_of(ANN).find("debt", TopicalRisk(space="bow", domain=True, breadth=0.9))


def test_without_times_there_is_no_history_and_the_rest_is_told():
    timeless = [replace(each, when=None) for each in [*OTHERS, *ANN]]
    state = RiskState.of(
        RiskQuestion(people=people_of(timeless), topics=ASKED, models=MODELS), [MEASURES["bow"], MEASURES["entropy"]]
    )
    report = find_person(state, people_of(timeless[-3:]), detail=Detail(bootstrap=FEW)).value
    own = report.find("debt", MEASURES["bow"])
    assert not own.history
    assert own.interval is not None
    assert own.reasons[0].entry == "a3"


def test_somebody_without_a_word_is_told_that_nothing_is_near():
    report = report_of([made("ann", "", 0, "silent")], detail=Detail(bootstrap=FEW))
    for rank in report.ranks:
        assert not rank.reasons
    assert report.find("debt", MEASURES["bow"]).standing.risk == 0


@given(st.integers(1, 40))
@settings(max_examples=5)
def test_a_history_has_a_stage_for_every_bucket_with_an_entry(days):
    start = datetime(2024, 1, 1, tzinfo=UTC)
    own = [replace(LOUD, person="ann", when=start + timedelta(days=at), entry=f"e{at}") for at in range(0, 40, days)]
    report = report_of(own, detail=Detail(bootstrap=None, bucket_days=10))
    expected = len({int((each.when.timestamp() - 4 * 86_400) // 864_000) for each in own})
    assert {len(rank.history) for rank in report.ranks} == {expected}
