"""Measures that count words, against loops straight from the formulas."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from risk_worlds import ASKED, NAMES, TOPICS, heard, models_of, people_of, rows

from aidos.errors import ParameterError
from aidos.rooms.risk.keywords import Bm25Risk, KeywordCountRisk, KeywordRateRisk
from aidos.rooms.risk.measures import KEYWORDS, MEASURES, RiskQuestion, find_measure, measure_names, risks
from aidos.rooms.risk.state import RiskState
from oracles.risk import plain_entries

MODELS = models_of()


def plain(measure, people, entries):
    """The risk of a person with these entries in a community, topic by topic."""
    everything = [entry for person in range(len(people)) for entry in plain_entries(people, person)]
    mean = sum(sum(entry.values()) for entry in everything) / len(everything)
    found = []
    for topic in ASKED:
        words = TOPICS[TOPICS.find(topic)].words
        used = [sum(entry.get(word, 0) for word in words) for entry in entries]
        written = sum(sum(entry.values()) for entry in entries)
        if isinstance(measure, Bm25Risk):
            scores = sorted((bm25(measure, entry, words, everything, mean) for entry in entries), reverse=True)
            found.append(sum(scores[: measure.entries]) / measure.entries)
        else:
            rate = isinstance(measure, KeywordRateRisk)
            found.append(sum(used) / max(written, 1) if rate else sum(used))
    return found


def bm25(measure, entry, words, everything, mean):
    total, length = 0.0, sum(entry.values())
    for word in words:
        holding = sum(word in each for each in everything)
        rarity = log(1 + (len(everything) - holding + 0.5) / (holding + 0.5))
        spread = measure.k1 * (1 - measure.b + measure.b * length / max(mean, 1e-9))
        used = entry.get(word, 0)
        total += rarity * used * (measure.k1 + 1) / (used + spread) if used else 0.0
    return total


measures = st.one_of(
    st.sampled_from([KeywordCountRisk(), KeywordRateRisk()]),
    st.builds(Bm25Risk, k1=st.sampled_from([0.5, 1.2]), b=st.sampled_from([0.0, 0.75, 1.0]), entries=st.integers(1, 4)),
)


@settings(max_examples=40, deadline=None)
@given(given=rows, measure=measures)
def test_everybodys_risks_are_those_of_the_formulas(given, measure):
    people = people_of(heard(given))
    found = measure.risk(people, ASKED, MODELS)
    for person in range(len(people)):
        assert found[person] == pytest.approx(plain(measure, people, plain_entries(people, person)))
    together = risks([measure, MEASURES["bow"]], RiskQuestion(people=people, topics=ASKED, models=MODELS))
    np.testing.assert_array_equal(together[measure], found)


@settings(max_examples=25, deadline=None)
@given(given=rows, measure=measures, data=st.data())
def test_redrawn_entries_are_scored_in_the_community_as_it_is(given, measure, data):
    people = people_of(heard(given))
    person = data.draw(st.integers(0, len(people) - 1))
    entries = plain_entries(people, person)
    place = st.integers(0, len(entries) - 1)
    draws = data.draw(st.lists(st.lists(place, min_size=len(entries), max_size=len(entries)), min_size=1, max_size=3))
    found = measure.redrawn(people, person, ASKED, MODELS, np.array(draws))
    for draw, risk in zip(draws, found, strict=True):
        assert risk == pytest.approx(plain(measure, people, [entries[each] for each in draw]))


def test_a_repeated_word_counts_for_count_and_saturates_for_bm25():
    people = people_of(heard([("once", 0, NAMES[0]), ("often", 0, " ".join([NAMES[0]] * 9)), ("never", 0, NAMES[20])]))
    at = {name: people.find(name) for name in ("once", "often", "never")}
    count, score = (measure.risk(people, ("debt",), MODELS)[:, 0] for measure in (KeywordCountRisk(), Bm25Risk(b=0.0)))
    assert count[at["often"]] == 9 * count[at["once"]] == 9
    assert score[at["once"]] < score[at["often"]] < 2.2 * score[at["once"]]
    assert count[at["never"]] == score[at["never"]] == 0


@pytest.mark.parametrize("measure", KEYWORDS.values(), ids=str)
def test_no_word_is_no_evidence(measure):
    people = people_of(heard([("has", 0, NAMES[0]), ("lacks", 0, NAMES[20])]))
    state = RiskState.of(RiskQuestion(people=people, topics=("debt",), models=MODELS), [measure])
    assert state.standing("has", "debt", measure).has_evidence
    assert not state.standing("lacks", "debt", measure).has_evidence
    near, evident = state.evidence(measure)
    assert near is None
    assert dict(zip(map(str, state.register.ids), evident[:, 0].tolist(), strict=True))["lacks"] is False
    assert measure.about().endswith(".")


def test_they_are_found_by_name_with_their_parameters():
    assert find_measure("bm25:k1=2,entries=5") == Bm25Risk(k1=2.0, entries=5)
    assert find_measure(str(KeywordRateRisk())) == KeywordRateRisk()
    assert set(KEYWORDS) <= set(measure_names())
    with pytest.raises(ParameterError, match="entries"):
        find_measure("bm25:entries=0")
