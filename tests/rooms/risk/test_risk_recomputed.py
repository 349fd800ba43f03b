"""Measures of third parties in a state: computed again at every change, and otherwise like all others."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from made_state import LOUD, MODELS, arrivals, made, people_of, question_of, state_of
from risk_worlds import ASKED
from third_party_risk import Loudness

from aidos.errors import InputError, ParameterError
from aidos.rooms.risk import measures as module
from aidos.rooms.risk.keeping import RiskStore, read_state
from aidos.rooms.risk.measures import MEASURES, RiskMeasure
from aidos.rooms.risk.personal import find_draft, find_person
from aidos.rooms.risk.state import RiskState

LOUDNESS = Loudness(factor=2.0)
BOTH = (MEASURES["bow-d"], LOUDNESS)


def assert_same(state, other):
    assert sorted(state.register.ids) == sorted(other.register.ids)
    for name in state.register.ids:
        assert state.standings(name) == other.standings(name)


@given(start=arrivals(least=1), more=arrivals(first=50))
@settings(max_examples=15)
def test_it_is_computed_again_at_every_change(start, more):
    state = state_of([LOUD, *start], BOTH)
    state.add(people_of(more), everybody=people_of([LOUD, *start, *more]))
    assert_same(state, state_of([LOUD, *start, *more], BOTH))
    gone = more[0].person
    left = [each for each in (LOUD, *start, *more) if each.person != gone]
    state.remove([gone], everybody=people_of(left))
    assert_same(state, state_of(left, BOTH))


def test_its_ranks_are_those_of_its_numbers():
    state = state_of([LOUD, made("ann", "x", 0, "a1"), made("ann", "y", 0, "a2")], [LOUDNESS])
    assert state.standing("ann", "debt", LOUDNESS).risk == 4.0
    assert state.standing("ann", "debt", LOUDNESS).best == 1
    assert state.standing("zoe", "debt", LOUDNESS).best == 2
    assert state.standing("ann", "debt", LOUDNESS).has_evidence
    np.testing.assert_array_equal(state.ordered("debt", LOUDNESS), [2.0, 4.0])
    assert state.telling("ann", "debt", LOUDNESS) == ()


def test_without_the_entries_of_everybody_a_change_is_refused_and_nothing_is_changed():
    state, new = state_of([LOUD], BOTH), people_of([made("ann", "word0", 0, "a1")])
    with pytest.raises(ParameterError, match="loudness cannot be kept up to date"):
        state.add(new)
    with pytest.raises(InputError, match="of other people"):
        state.add(new, everybody=new)
    with pytest.raises(ParameterError, match="loudness cannot be kept"):
        state_of([LOUD, made("ann", "word0", 0, "a1")], BOTH).remove(["ann"])
    assert_same(state, state_of([LOUD], BOTH))


def test_it_is_on_the_disk_with_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_joined", lambda: {"loudness": Loudness})
    ann = [made("ann", "word0", 0, "a1"), made("ann", "", 1, "a2")]
    for number, measures in enumerate((BOTH, (LOUDNESS,))):
        path = tmp_path / str(number)
        with RiskStore.create(path, state_of([LOUD], measures)) as store:
            store.add(people_of(ann), everybody=people_of([LOUD, *ann]))
        assert_same(read_state(path, MODELS), state_of([LOUD, *ann], measures))
        with RiskStore.open(path, MODELS) as store:
            store.remove(["zoe"], everybody=people_of(ann))
        assert read_state(path, MODELS).standing("ann", "debt", LOUDNESS).people == 1
    monkeypatch.setattr(module, "_joined", dict)
    with pytest.raises(InputError, match="loudness, which is not there any more"):
        read_state(tmp_path / "0", MODELS)


def test_a_person_is_told_her_rank_by_it_and_no_more():
    ann = [made("ann", "word0", 0, "a1"), made("ann", "", 1, "a2")]
    state = state_of([LOUD, *ann], BOTH)
    rank = find_person(state, people_of(ann)).value.find("debt", LOUDNESS)
    assert (rank.standing.best, rank.interval, rank.reasons, rank.history) == (1, None, (), ())
    assert {each.measure for each in find_draft(state, "ann", "word0", when=ann[0].when).value} == {BOTH[0]}


def test_numbers_that_are_none_and_tables_of_another_shape_are_refused():
    @dataclass(frozen=True, kw_only=True)
    class Wrong(RiskMeasure):
        name: ClassVar[str] = "wrong"
        rows: int
        finite: bool

        def about(self):
            return ""

        def risk(self, people, topics, models):
            return np.full((self.rows, len(topics)), 0.0 if self.finite else np.nan)

        def redrawn(self, people, person, topics, models, draws):
            return np.zeros((len(draws), len(topics)))

    for wrong in (Wrong(rows=1, finite=False), Wrong(rows=2, finite=True)):
        with pytest.raises(ParameterError, match="wrong does not give every person a number"):
            RiskState.of(question_of([LOUD], ASKED), [wrong])


def test_it_may_need_times():
    class Timely(Loudness):
        needs_times = True

    timeless = people_of([type(LOUD)(person="zoe", text=LOUD.text)])
    question = question_of([LOUD])
    with pytest.raises(ParameterError, match="no entry has a time"):
        RiskState.of(type(question)(people=timeless, topics=ASKED, models=MODELS), [Timely()])
