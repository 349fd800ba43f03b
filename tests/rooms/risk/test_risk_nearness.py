from dataclasses import replace

import numpy as np
import pytest
from made_state import ALL, LOUD, MODELS, made, people_of, state_of
from risk_worlds import ASKED, NAMES, WEEK

from aidos.rooms.risk.kept.standing import Standing
from aidos.rooms.risk.measure import LEAST_NEARNESS, BaselineRisk, RiskQuestion, least_nearness
from aidos.rooms.risk.measures import MEASURES, TopicalRisk, risks
from aidos.rooms.risk.personal import Alert, find_draft, find_person

FAR = "nothing of the kind"
"""Words that no topic and no model knows."""
CROWD = [LOUD, *(made(f"m{at:02}", FAR, 0, f"p{at}") for at in range(30)), made("ann", "word0 word1", WEEK, "a1")]


@pytest.fixture(scope="module")
def crowd():
    return state_of(CROWD)


def test_nearness_is_the_plain_part_of_the_risk(crowd):
    question = RiskQuestion(people=people_of(CROWD), topics=ASKED, models=MODELS)
    plain = risks([MEASURES[space] for space in LEAST_NEARNESS], question)
    ids = question.people.ids.to_pylist()
    for measure in ALL:
        for at, topic in enumerate(ASKED):
            for name in ("ann", "zoe", "m00"):
                standing = crowd.standing(name, topic, measure)
                assert standing.least_nearness == least_nearness(measure)
                if isinstance(measure, TopicalRisk):
                    assert standing.nearness == plain[MEASURES[measure.space]][ids.index(name), at]
                assert crowd.standings(name)[measure, topic] == standing


def test_one_word_of_a_topic_is_evidence_for_measures_that_count_words(crowd):
    for measure in (each for each in ALL if isinstance(each, BaselineRisk)):
        assert crowd.standing("ann", "debt", measure).has_evidence
        assert not crowd.standing("ann", "grief", measure).has_evidence
        assert not crowd.standing("m00", "debt", measure).has_evidence


def test_who_is_near_nothing_has_a_rank_by_the_formula_and_no_evidence(crowd):
    for measure in ALL:
        standing = crowd.standing("m00", "grief", measure)
        assert not standing.has_evidence
        if isinstance(measure, TopicalRisk):
            assert standing.risk == (0.5 if measure.domain else 0.0)


def test_evidence_of_everybody_is_that_of_each(crowd):
    for measure in ALL:
        near, evident = crowd.evidence(measure)
        for row, name in enumerate(crowd.register.ids):
            for at, topic in enumerate(ASKED):
                standing = crowd.standing(name, topic, measure)
                assert (near[row, at], evident[row, at]) == (standing.nearness, standing.has_evidence)
        np.testing.assert_array_equal(
            crowd.all_risks(measure), np.stack([crowd.risks(topic, measure) for topic in ASKED], axis=1)
        )


def test_an_alert_needs_evidence_whatever_the_percentile():
    first = Standing(risk=0.4998, above=0, equal=0, people=100, nearness=0.004, least_nearness=0.1)
    assert first.percentile == 1
    for alert in (Alert(percentile=0.5), Alert(percentile=None, risk=0.1)):
        assert not alert.reached(first)
        assert not alert.reached(replace(first, nearness=0.1))
        assert alert.reached(replace(first, nearness=0.11))
        assert alert.reached(replace(first, nearness=None))


def test_nobody_is_warned_of_what_she_never_wrote_about(crowd):
    mine = people_of([each for each in CROWD if each.person == "m00"])
    report = find_person(crowd, mine, alert=Alert(percentile=0.01)).value
    assert report.alerts == ()
    assert any(rank.standing.percentile > 0.01 for rank in report.ranks)


def test_a_draft_warns_only_if_it_is_near_itself(crowd):
    asked = {"when": made("m00", "", 0, "").when, "alert": Alert(percentile=0.6)}
    near = find_draft(crowd, "m00", " ".join(NAMES[10:13]), **asked).value
    far = find_draft(crowd, "m00", FAR, **asked).value
    assert {effect.topic for effect in near if effect.alert and effect.measure.name == "bow"} == {"grief"}
    assert not any(effect.alert for effect in far)
    assert {effect.nearness for effect in far} == {0.0}
    assert next(each for each in near if (each.topic, each.measure.name) == ("grief", "bow")).nearness == pytest.approx(
        1
    )


def test_a_faint_draft_does_not_take_somebody_over_a_threshold_who_was_near_it(crowd):
    """Her risk rises by a hair, and with it her rank: the draft is not what brought her there."""
    measure = TopicalRisk(space="bow", time=True, recurring=3)
    crowded = [*CROWD, made("bea", "word10 word11 word12", 0, "b1"), made("cat", "word10 word11 word12", 0, "c1")]
    state = state_of(crowded, [measure])
    faint = " ".join(["word10", *(name for name in NAMES[:10] for _ in range(9))])
    when = made("bea", "", 4 * WEEK, "").when
    before = state.standing("bea", "grief", measure)
    effect = next(
        each
        for each in find_draft(state, "bea", faint, when=when, alert=Alert(percentile=before.percentile + 0.001)).value
        if each.topic == "grief"
    )
    assert effect.after.percentile > before.percentile
    assert 0 < effect.nearness <= LEAST_NEARNESS["bow"]
    assert effect.after.has_evidence
    assert not effect.alert
