import pickle
from dataclasses import FrozenInstanceError
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_worlds import models_of, people_of

from aidos.errors import ParameterError
from aidos.rooms.risk import measures as module
from aidos.rooms.risk.measures import (
    MEASURES,
    DifferentialPrivacyRisk,
    EntropyRisk,
    RiskMeasure,
    RiskQuestion,
    TopicalRisk,
    find_measure,
    measure_names,
    risks,
)

any_measure = st.one_of(
    st.builds(EntropyRisk, smoothing=st.floats(1e-6, 10)),
    st.builds(DifferentialPrivacyRisk, smoothing=st.floats(1e-6, 10)),
    st.builds(
        TopicalRisk,
        space=st.sampled_from(["bow", "lda", "w2v"]),
        domain=st.booleans(),
        time=st.booleans(),
        breadth=st.floats(0.01, 1),
        recurring=st.integers(1, 366),
        bucket_days=st.integers(1, 3660),
    ),
)


def test_there_are_fourteen():
    forms = ["", "-d", "-t", "-dt"]
    named = ["entropy", "differential-privacy", *(space + form for space in ("bow", "lda", "w2v") for form in forms)]
    assert list(MEASURES) == named
    assert measure_names() == [*named, "keyword-count", "keyword-rate", "bm25"]


@given(measure=any_measure)
def test_what_is_printed_is_read_back(measure):
    assert find_measure(str(measure)) == measure
    assert hash(find_measure(str(measure))) == hash(measure)
    assert pickle.loads(pickle.dumps(measure)) == measure


def test_names_and_texts_are_those_of_the_thesis():
    assert str(find_measure("lda-dt")) == "lda-dt:breadth=0.3,recurring=3,bucket_days=7"
    assert str(find_measure(" LDA-DT: recurring=4 , breadth=0.2")) == "lda-dt:breadth=0.2,recurring=4,bucket_days=7"
    assert str(find_measure("w2v")) == "w2v"
    assert str(find_measure("bow-t:bucket_days=30")) == "bow-t:recurring=3,bucket_days=30"
    assert str(find_measure("entropy")) == "entropy:smoothing=0.01"


def test_what_does_not_matter_makes_no_difference():
    assert TopicalRisk(space="bow", breadth=0.9, recurring=5) == TopicalRisk(space="bow")
    assert TopicalRisk(space="bow", domain=True, breadth=0.9) != TopicalRisk(space="bow", domain=True)


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("lda-td", "no risk measure is called 'lda-td'", "did you mean lda-"),
        ("entropie", "no risk measure", "did you mean entropy"),
        ("", "no risk measure", "there are entropy"),
        ("lda:breadth=0.2", "lda takes no parameters", "write lda"),
        ("lda-d:breath=0.2", "has no parameter 'breath'", "did you mean breadth"),
        ("lda-d:recurring=2", "has no parameter 'recurring'", "there are breadth"),
        ("lda-d:breadth", "name=value", "it has breadth"),
        ("lda-d:breadth=0.1,breadth=0.2", "given twice", "once"),
        ("lda-d:breadth=much", "must be a number", ""),
        ("lda-t:recurring=1.5", "must be a whole number", ""),
        ("lda-d:breadth=0", "greater than 0", ""),
        ("lda-d:breadth=nan", "finite", ""),
        ("lda-t:recurring=0,bucket_days=0", "recurring must be at least 1.*bucket_days must be at least 1", ""),
        ("entropy:smoothing=0", "greater than 0", ""),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_way_out(text, words, hint):
    with pytest.raises(ParameterError, match=words) as caught:
        find_measure(text)
    assert hint in caught.value.hint


def test_measures_are_frozen_and_take_names_alone():
    with pytest.raises(FrozenInstanceError):
        MEASURES["lda"].space = "bow"
    with pytest.raises(TypeError):
        TopicalRisk("lda")
    with pytest.raises(ParameterError, match="space must be one of bow, lda, w2v"):
        TopicalRisk(space="tfidf")


def test_measures_of_third_parties_are_found_by_name(monkeypatch):
    entries = [
        EntryPoint("loudness", "third_party_risk:Loudness", "aidos.mechanisms"),
        EntryPoint("entropy", "third_party_risk:Loudness", "aidos.mechanisms"),
        EntryPoint("zealous-too", "aidos.rooms.publish.zealous:Zealous", "aidos.mechanisms"),
    ]
    monkeypatch.setattr(module, "entry_points", lambda group: entries if group == "aidos.mechanisms" else [])
    assert measure_names()[17:] == ["loudness"]
    measure = find_measure("loudness:factor=2")
    assert isinstance(measure, RiskMeasure)
    assert str(measure) == "loudness:factor=2.0"
    assert isinstance(find_measure("entropy"), EntropyRisk)
    people = people_of([("a", 0, "word0"), ("a", 1, "word1"), ("b", 0, "word0")])
    question = RiskQuestion(people=people, topics=("debt",), models=models_of())
    found = risks([measure, MEASURES["bow"]], question)
    np.testing.assert_array_equal(found[measure], [[4.0], [2.0]])
