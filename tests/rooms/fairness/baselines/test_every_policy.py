import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standings import standing_of

from aidos.rooms.fairness.heuristics import ByDeficit, ByRelevance, FairCo, FairTopK, TieShuffle
from aidos.rooms.fairness.programs import ExposureProgram, ThesisProgram

POLICIES = [
    ByRelevance(),
    ByDeficit(),
    ThesisProgram(),
    ThesisProgram(candidates=3, objective="squared"),
    FairTopK(),
    ExposureProgram(),
    FairCo(),
    TieShuffle(),
]


@st.composite
def standings(draw):
    size = draw(st.integers(1, 7))
    amounts = st.lists(st.integers(0, 4), min_size=size, max_size=size)
    return standing_of(
        draw(amounts.filter(any)),
        positions=draw(st.integers(1, size)),
        floor=draw(st.sampled_from([0.0, 0.9, 1.0])),
        received=draw(amounts),
        before=draw(amounts),
        groups=[value % 2 for value in draw(amounts)],
        rankings=draw(st.integers(0, 9)),
    )


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@given(standing=standings())
@settings(max_examples=25)
def test_every_position_gets_a_subject_of_its_own_and_accounts_stay_as_they_are(policy, standing):
    before = standing.received.copy(), standing.earned.copy()
    placed = policy.place(standing)
    assert placed.dtype == np.int64
    assert len(placed) == len(standing.attention) == len(set(placed.tolist()))
    assert set(placed.tolist()) <= set(range(len(standing.relevance)))
    assert (standing.received == before[0]).all()
    assert (standing.earned == before[1]).all()
    assert placed.tolist() == policy.place(standing).tolist()
