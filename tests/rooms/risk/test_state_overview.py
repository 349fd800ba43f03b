import numpy as np
import pytest
from made_state import ALL, LOUD, made, state_of
from risk_worlds import ASKED, NAMES

from aidos.core.guarantee import NoGuarantee
from aidos.errors import InputError, ParameterError
from aidos.rooms.risk.overview import RiskOverview

CROWD = [LOUD, *(made(f"m{at:02}", NAMES[at % 24], 0, f"p{at}") for at in range(70))]


def test_numbers_are_rounded_and_small_ones_are_not_told():
    state = state_of(CROWD)
    assert isinstance(RiskOverview(least=20).promise, NoGuarantee)
    assert "at least 20 people" in RiskOverview(least=20).promise.reason
    overview = RiskOverview(least=20).count(state)
    assert (overview.people, overview.least) == (60, 20)
    assert [(spread.measure, spread.topic) for spread in overview.spreads] == [
        (str(measure), topic) for measure in ALL for topic in ASKED
    ]
    by_name = {str(measure): measure for measure in ALL}
    for spread in overview.spreads:
        measure = by_name[spread.measure]
        near = np.array([state.standing(name, spread.topic, measure).has_evidence for name in state.register.ids])
        risks = state.risks(spread.topic, measure)[near]
        counted = int((~near).sum())
        assert spread.no_evidence == (counted // 20 * 20 if counted >= 20 else None)
        for part in spread.bins:
            above = -np.inf if part.above is None else part.above
            up_to = np.inf if part.up_to is None else part.up_to
            true = int(((risks > above) & (risks <= up_to)).sum())
            counted += true
            assert part.people == (true // 20 * 20 if true >= 20 else None)
        assert counted == len(state)
    assert "zoe" not in repr(overview)


def test_empty_bins_and_small_ones_look_the_same():
    spread = next(each for each in RiskOverview(least=20).count(state_of(CROWD)).spreads if each.measure == "bow")
    assert spread.no_evidence == 40
    assert {part.people for part in spread.bins} == {None}


def test_small_communities_are_refused():
    with pytest.raises(InputError, match="fewer than 20 people are ranked"):
        RiskOverview().count(state_of(CROWD[:10]))
    with pytest.raises(ParameterError, match="least must be at least 10"):
        RiskOverview(least=1)
