from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_state import ALL, LOUD, MODELS, PLAIN, arrivals, made, people_of, question_of, state_of
from risk_worlds import ASKED, NAMES, TOPICS, WEEK

from aidos.errors import ParameterError
from aidos.model.text.analyser import Analyser
from aidos.rooms.risk.arrivals import Arrival, in_order, people_of_arrivals
from aidos.rooms.risk.knowledge import make_space
from aidos.rooms.risk.measure import RiskQuestion
from aidos.rooms.risk.measures import MEASURES, DifferentialPrivacyRisk, EntropyRisk, TopicalRisk, risks
from aidos.rooms.risk.people import read_people
from aidos.rooms.risk.ranks import percentiles, rank_people
from aidos.rooms.risk.state import RiskState


def table_of(posts):
    return pa.table(
        {
            "post_id": [one.entry for one in posts],
            "author_id": [one.person for one in posts],
            "timestamp": pa.array([one.when.replace(tzinfo=None) for one in posts], type=pa.timestamp("s")),
            "text": [one.text for one in posts],
        }
    )


def check_equals_computing_again(state, now):
    """Against a state from the beginning to the last digit, and against the measures themselves."""
    again = state_of(now)
    people = sorted(again.register.ids)
    assert sorted(state.register.ids) == people
    assert len(state) == len(people)
    computed = risks(ALL, question_of(now))
    for measure in ALL:
        for topic in ASKED:
            mine = dict(zip(state.register.ids, state.risks(topic, measure), strict=True))
            assert mine == dict(zip(again.register.ids, again.risks(topic, measure), strict=True))
            expected = computed[measure][:, ASKED.index(topic)]
            np.testing.assert_allclose([mine[name] for name in people], expected, atol=1e-6)
            np.testing.assert_array_equal(state.ordered(topic, measure), np.sort(list(mine.values())))
    for name in people:
        assert state.standings(name) == again.standings(name)


def check_telling_entries(state, now):
    """Every entry that is named is the person's, and as near as her risk says."""
    by_name = {arrival.entry: arrival for arrival in now}
    people = people_of(now)
    numbers = {name: at for at, name in enumerate(people.entry_ids.to_pylist())}
    near = {
        space: make_space(space, ASKED, MODELS, PLAIN, domains=False).bind(people.vocabulary)(people.bags)
        for space in ("bow", "lda", "w2v")
    }
    for name in state.register.ids:
        assert set(state.register.names(name).values()) <= {own.entry for own in now if own.person == name}
        for measure in ALL:
            for at, topic in enumerate(ASKED):
                for telling in state.telling(name, topic, measure):
                    if telling.word:
                        assert telling.word in by_name[telling.entry].text.split()
                        assert telling.word in TOPICS[TOPICS.find(topic)].words
                    else:
                        assert telling.similarity == near[measure.space][numbers[telling.entry], at]


@given(start=arrivals(), data=st.data())
@settings(max_examples=20)
def test_any_changes_equal_computing_again(start, data):
    now, used = [LOUD, *start], len(start)
    state = state_of(now)
    for _ in range(data.draw(st.integers(1, 4))):
        others = sorted({arrival.person for arrival in now} - {"zoe"})
        step = data.draw(st.sampled_from(["add", "replace", "remove"] if others else ["add"]))
        if step == "add":
            more = data.draw(arrivals(used))
            change = state.add(people_of(more))
            assert change.new_people == len({one.person for one in more} - set(others))
            assert change.entries == len(more)
            now, used = now + more, used + len(more)
            continue
        person = data.draw(st.sampled_from(others))
        own = [arrival for arrival in now if arrival.person == person]
        left = (
            data.draw(st.lists(st.sampled_from(own), unique=True, max_size=len(own) - 1)) if step == "replace" else []
        )
        state.replace(people_of(left)) if left else state.remove([person])
        now = [arrival for arrival in now if arrival.person != person] + left
    check_equals_computing_again(state, now)
    check_telling_entries(state, now)


@given(start=arrivals(), order=st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_entries_may_come_one_at_a_time_in_any_order_and_twice(start, order):
    now = [LOUD, *start]
    state = state_of(now[:1])
    shuffled = now[1:] * 2
    order.shuffle(shuffled)
    for arrival in shuffled:
        state.add(people_of([arrival]))
    check_equals_computing_again(state, now)


@given(start=arrivals(), draft=arrivals(100, most=1), name=st.sampled_from(["a", "b", "newcomer"]))
@settings(max_examples=20)
def test_a_draft_does_what_posting_it_would_and_changes_nothing(start, draft, name):
    state = state_of([LOUD, *start])
    before = {person: state.standings(person) for person in state.register.ids}
    posted = made(name, draft[0].text, draft[0].when.timestamp(), "draft")
    old, new = state.would_be(name, people_of(draft))
    assert {person: state.standings(person) for person in state.register.ids} == before
    assert old == before.get(name)
    state.add(people_of([posted]))
    assert new == state.standings(name)


@given(start=arrivals(least=3, most=12))
@settings(max_examples=8)
def test_ranks_and_percentiles_are_those_of_the_whole_community(start):
    state = state_of([LOUD, *start])
    for measure in ALL:
        for topic in ASKED:
            found = state.risks(topic, measure)
            standings = [state.standing(name, topic, measure) for name in state.register.ids]
            assert [one.best for one in standings] == rank_people(found, ties="best").tolist()
            assert [one.worst for one in standings] == rank_people(found, ties="worst").tolist()
            assert [one.mean for one in standings] == rank_people(found, ties="mean").tolist()
            np.testing.assert_allclose([one.percentile for one in standings], percentiles(found))
            assert all(one.people == len(state) for one in standings)


def test_a_new_entry_moves_everybody_in_the_baselines():
    state = state_of([LOUD, made("ann", NAMES[0], 0, "p1"), made("ben", "nothing", 0, "p2")])
    measure = MEASURES["entropy"]
    before = state.standing("ann", "debt", measure).risk
    state.add(people_of([made("ben", NAMES[0], 9, "p3")]))
    assert state.standing("ann", "debt", measure).risk < before


def test_a_community_of_one_has_one_rank():
    state = state_of([LOUD])
    for standing in state.standings("zoe").values():
        assert (standing.best, standing.worst, standing.people, standing.percentile) == (1, 1, 1, 0.5)


def test_the_nearest_entry_is_named_and_of_each_of_the_best_weeks():
    days = [made("ann", f"{NAMES[10]} {' '.join(NAMES[18 : 18 + at])}", at * WEEK, f"week {at}") for at in range(5)]
    state = state_of([LOUD, *days])
    assert [one.entry for one in state.telling("ann", "grief", MEASURES["bow"])] == ["week 0"]
    weekly = state.telling("ann", "grief", TopicalRisk(space="bow", time=True))
    # Words of no topic do not count, so that all weeks are equal; those that came first are kept.
    assert [one.entry for one in weekly] == ["week 0", "week 1", "week 2"]


def test_entries_without_a_name_go_by_time_or_number():
    timed = people_of([Arrival(person="ann", text=LOUD.text, when=datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC))])
    state = RiskState.of(RiskQuestion(people=timed, topics=ASKED, models=MODELS), [MEASURES["bow"]])
    assert state.telling("ann", "debt", MEASURES["bow"])[0].entry == "2024-05-06 07:08:09"
    timeless = people_of([Arrival(person="ann", text=LOUD.text)])
    state = RiskState.of(RiskQuestion(people=timeless, topics=ASKED, models=MODELS), [MEASURES["bow"]])
    assert state.telling("ann", "debt", MEASURES["bow"])[0].entry == "entry 1"


def test_removing_leaves_nothing_of_a_person():
    state = state_of([LOUD, made("ann", NAMES[0], 0, "secret"), made("ben", NAMES[1], 0, "p2")])
    state.remove(["ann"])
    assert "ann" not in state.register
    assert all("secret" not in state.register.names(name).values() for name in state.register.ids)
    rows = np.arange(2, 3)
    for traces in state.register.traces(rows).values():
        assert not traces.evidence.best.any()
        assert (traces.nearest == -1).all()
    with pytest.raises(ParameterError, match="nobody has that name among 2 people"):
        state.standing("ann", "debt", MEASURES["bow"])
    with pytest.raises(ParameterError, match="nobody has that name"):
        state.remove(["ben", "ann"])
    assert "ben" in state.register


def test_measures_without_time_work_without_times_and_the_others_refuse():
    timeless = people_of([Arrival(person="ann", text=LOUD.text)])
    question = RiskQuestion(people=timeless, topics=ASKED, models=MODELS)
    with pytest.raises(ParameterError, match="looks at what comes again over time, but no entry has a time"):
        RiskState.of(question, [MEASURES["bow"], MEASURES["bow-t"]])
    state = RiskState.of(question, [MEASURES["bow"], MEASURES["entropy"]])
    state.add(people_of([Arrival(person="ben", text=NAMES[0])]))
    assert state.standing("ben", "debt", MEASURES["bow"]).best == 1
    with pytest.raises(ParameterError, match="no entry has a time"):
        state_of([LOUD]).add(timeless)


def test_what_is_not_kept_is_refused_by_name():
    state = RiskState.of(question_of([LOUD], ("debt", "hiv")), [MEASURES["bow"]])
    with pytest.raises(ParameterError, match="lda is not kept here") as error:
        state.standing("zoe", "debt", MEASURES["lda"])
    assert "bow" in error.value.hint
    with pytest.raises(ParameterError, match="grief is not kept here") as error:
        state.standing("zoe", "grief", MEASURES["bow"])
    assert "debt, hiv" in error.value.hint
    with pytest.raises(ParameterError, match="there is no topic 'grieve'") as error:
        state.standing("zoe", "grieve", MEASURES["bow"])
    assert "grief" in error.value.hint
    with pytest.raises(ParameterError, match="at least one topic and one measure"):
        RiskState.of(question_of([LOUD]), [])
    with pytest.raises(ParameterError, match="a draft is of one person, this one is of 2"):
        state.would_be("zoe", people_of([LOUD, made("ann", "x", 0, "p")]))


def test_topics_that_nobody_speaks_of_and_other_analysers_are_refused():
    with pytest.raises(ParameterError, match="grief cannot be measured: nobody uses any of its words"):
        RiskState.of(question_of([made("ann", NAMES[0], 0, "p")], ("debt", "grief")), [MEASURES["bow"]])
    with pytest.raises(ParameterError, match="the state keeps those read with words"):
        state_of([LOUD]).add(people_of_arrivals([LOUD], analyser=Analyser(stop_words="english")))


@given(start=arrivals(least=1, most=12))
@settings(max_examples=12)
def test_arrivals_are_people_as_a_table_of_them_is(start):
    mine, theirs = people_of(start), in_order(read_people(table_of(start)))
    assert mine.ids.equals(theirs.ids)
    assert mine.entry_ids.equals(theirs.entry_ids)
    assert mine.facts == theirs.facts
    np.testing.assert_array_equal(mine.person_starts, theirs.person_starts)
    np.testing.assert_array_equal(mine.times, theirs.times)
    assert list(mine.vocabulary) == list(theirs.vocabulary)
    for own, other in zip(mine.bags, theirs.bags, strict=True):
        np.testing.assert_array_equal(own, other)


@given(start=arrivals(least=2, most=8), order=st.randoms(use_true_random=False))
@settings(max_examples=12)
def test_what_is_read_beside_an_entry_does_not_change_its_last_digit(start, order):
    mixed = [LOUD, *start]
    order.shuffle(mixed)
    question = RiskQuestion(people=read_people(table_of(mixed)), topics=ASKED, models=MODELS)
    read, expected = RiskState.of(question, ALL), state_of([LOUD, *start])
    for name in expected.register.ids:
        assert read.standings(name) == expected.standings(name)


def test_arrivals_without_a_person_or_none_at_all_are_refused():
    with pytest.raises(ParameterError, match="an entry has no person"):
        people_of([Arrival(person="", text="x")])
    with pytest.raises(ParameterError, match="there are no entries"):
        people_of([])


def test_smoothing_is_part_of_a_measure():
    odd = (EntropyRisk(smoothing=0.5), DifferentialPrivacyRisk(smoothing=2.0))
    now = [LOUD, made("ann", NAMES[0], 0, "p1"), made("ben", NAMES[0], 0, "p2")]
    state = RiskState.of(question_of(now[:2]), odd)
    state.add(people_of(now[2:]))
    expected = risks(odd, question_of(now))
    for measure in odd:
        np.testing.assert_array_equal(
            [state.standing(name, "debt", measure).risk for name in ("ann", "ben", "zoe")], expected[measure][:, 0]
        )
