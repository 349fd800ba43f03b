from dataclasses import replace

import numpy as np
import pytest
from made_state import ALL, LOUD, MODELS, made, people_of, state_of
from risk_worlds import ASKED, NAMES, WEEK, models_of

from aidos.core.mechanism import Finding
from aidos.errors import InputError, ParameterError
from aidos.rooms.risk.local import LocalRisk, QuantileTable, RiskQuantiles, Steps, find_local, two_digits
from aidos.rooms.risk.measures import MEASURES, TopicalRisk

TOPICAL = [measure for measure in ALL if isinstance(measure, TopicalRisk)]
STREAM = np.random.default_rng(8)
CROWD = [
    LOUD,
    *(
        made(f"m{at:03}", " ".join(STREAM.choice(NAMES, size=int(STREAM.integers(1, 9)))), int(at % 5) * WEEK, f"p{at}")
        for at in range(205)
    ),
]
OWN = [made("ann", f"{NAMES[0]} {NAMES[1]}", 0, "a1"), made("ann", f"{NAMES[0]} {NAMES[10]}", WEEK, "a2")]


@pytest.fixture(scope="module")
def crowd():
    return state_of([*CROWD, *OWN])


def test_numbers_at_home_are_those_of_the_community(crowd):
    found = find_local(people_of(OWN), ASKED, TOPICAL, MODELS)
    assert isinstance(found, Finding)
    assert len(found.value) == len(TOPICAL) * len(ASKED)
    by_name = {str(measure): measure for measure in TOPICAL}
    for one in found.value:
        assert one.risk == crowd.standing("ann", one.topic, by_name[one.measure]).risk
        assert one.percentile is None


def test_only_numbers_come_out():
    for one in find_local(people_of(OWN), ASKED, TOPICAL, MODELS).value:
        assert LocalRisk.__slots__ == ("topic", "measure", "risk", "percentile", "nearness", "evidence")
        assert "ann" not in repr(one)
        assert not any(word in repr(one) for word in NAMES)


def test_baselines_need_a_community_and_measures_over_time_need_times():
    with pytest.raises(ParameterError, match="entropy compares with a community, which is not there"):
        find_local(people_of(OWN), ASKED, [MEASURES["bow"], MEASURES["entropy"]], MODELS)
    timeless = people_of([replace(each, when=None) for each in OWN])
    with pytest.raises(ParameterError, match="no entry has a time"):
        find_local(timeless, ASKED, [MEASURES["lda-t"]], MODELS)
    assert find_local(timeless, ASKED, [MEASURES["lda"]], MODELS).value
    with pytest.raises(ParameterError, match="these entries are of 2 people"):
        find_local(people_of([LOUD, *OWN]), ASKED, TOPICAL, MODELS)


def test_a_topic_of_which_she_says_nothing_is_no_mistake_at_home():
    found = find_local(people_of([made("ann", "hello", 0, "a")]), ["hiv"], [MEASURES["bow"]], MODELS).value
    assert [one.risk for one in found] == [0.0]


def test_percentiles_hold_the_true_one(crowd):
    table = RiskQuantiles(steps=10).make(crowd)
    by_name = {str(measure): measure for measure in TOPICAL}
    for one in find_local(people_of(OWN), ASKED, TOPICAL, MODELS, table=table).value:
        ordered = crowd.ordered(one.topic, by_name[one.measure])
        low, high = one.percentile
        own = two_digits(one.risk)
        rounded = np.array([two_digits(risk) for risk in ordered.tolist()])
        assert low <= (rounded <= own).mean() <= 1
        assert (rounded < own).mean() <= high <= 1
        assert low < high


def test_every_step_holds_enough_people_and_the_ends_are_not_told(crowd):
    table = RiskQuantiles(least=20, steps=100).make(crowd)
    assert table.people == 200
    for row in table.rows:
        assert len(row.risks) == 207 // 20 - 1
        assert list(row.risks) == sorted(row.risks)
        assert all(risk == two_digits(risk) for risk in row.risks)
    tops = [crowd.ordered(topic, MEASURES["w2v"])[-20:] for topic in ASKED]
    for row, top in zip([row for row in table.rows if row.measure == "w2v"], tops, strict=True):
        assert row.risks[-1] <= two_digits(top[0])
    assert {row.measure for row in table.rows} == {str(measure) for measure in TOPICAL}
    assert "ann" not in repr(table)


def test_small_communities_have_no_table():
    few = state_of(CROWD[:39])
    with pytest.raises(InputError, match="needs at least 40 people, there are 39"):
        RiskQuantiles().make(few)
    with pytest.raises(ParameterError, match="least must be at least 20"):
        RiskQuantiles(least=5)
    assert all(len(row.risks) == 1 for row in RiskQuantiles().make(state_of(CROWD[:40])).rows)


def test_steps_say_between_which_shares_a_risk_lies():
    steps = Steps(measure="bow", topic="debt", risks=(0.1, 0.2, 0.2, 0.5))
    assert steps.percentile(0.05) == (0.0, 0.2)
    assert steps.percentile(0.1) == (0.0, 0.4)
    assert steps.percentile(0.2) == (0.2, 0.8)
    assert steps.percentile(0.3) == (0.6, 0.8)
    assert steps.percentile(0.9) == (0.8, 1.0)


def test_a_table_is_read_back_as_written_and_damage_is_said(tmp_path, crowd):
    table = RiskQuantiles().make(crowd)
    file = tmp_path / "quantiles.json"
    table.write(file)
    assert QuantileTable.read(file) == table
    assert not any(word in file.read_text() for word in NAMES)
    for spoilt, message in (
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"kind": "cake", "format": 1}', "is no table of quantiles"),
        ('{"kind": "aidos risk quantiles", "format": 7}', "has format 7, this aidos reads 1"),
        ('{"kind": "aidos risk quantiles", "format": 1, "rows": [{}]}', "damaged"),
    ):
        file.write_text(spoilt)
        with pytest.raises(InputError, match=message):
            QuantileTable.read(file)
    with pytest.raises(InputError, match="there is no file"):
        QuantileTable.read(tmp_path / "nothing")


def test_a_table_of_other_models_is_refused_and_fewer_measures_are_fine(crowd):
    table = RiskQuantiles().make(crowd)
    other = replace(MODELS, vectors=models_of(9).vectors)
    with pytest.raises(InputError, match="made with other word vectors"):
        find_local(people_of(OWN), ASKED, [MEASURES["w2v"]], other, table=table)
    found = find_local(people_of(OWN), ["debt"], [MEASURES["lda"]], other, table=table).value
    assert found[0].percentile is not None
    unlisted = TopicalRisk(space="bow", domain=True, breadth=0.9)
    assert find_local(people_of(OWN), ["debt"], [unlisted], MODELS, table=table).value[0].percentile is None
