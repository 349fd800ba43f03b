from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.model.attention import Cascade, Discounted, Geometric, Measured, RankBiased, Singular, find_attention

chances = st.floats(1e-6, 1)
lengths = st.integers(1, 40)
models = st.one_of(
    st.builds(Geometric, share=chances, positions=lengths),
    st.just(Singular()),
    st.builds(Discounted, positions=lengths),
    st.builds(RankBiased, persistence=chances, positions=lengths),
    st.builds(Cascade, stop=chances, persistence=chances, positions=lengths),
    st.builds(Measured, rates=st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=12)),
)
falling = st.lists(st.floats(0, 1e6), min_size=1, max_size=60).map(lambda values: np.array(sorted(values)[::-1]))


@given(models, falling)
def test_weights_are_shares_of_the_positions_that_are_there(model, grades):
    weights = model.weights(grades)
    assert len(weights) == min(model.positions, len(grades))
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    if not isinstance(model, Measured):
        assert (np.diff(weights) <= 0).all()


@given(models)
def test_text_and_model_are_the_same_thing(model):
    assert find_attention(str(model)) == model
    assert str(find_attention(str(model))) == str(model)
    assert model.about().endswith(".")


@given(models, models)
def test_texts_are_equal_exactly_where_models_are(one, other):
    assert (str(one) == str(other)) == (one == other)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("geometric", Geometric()),
        ("geometric:share=0.5,positions=5", Geometric(share=0.5, positions=5)),
        ("Geometric: positions = 3", Geometric(positions=3)),
        ("singular", Singular()),
        ("dcg:positions=7", Discounted(positions=7)),
        ("rbp:persistence=0.9,positions=10", RankBiased(persistence=0.9)),
        ("cascade:stop=0.7,positions=4", Cascade(stop=0.7, positions=4)),
        ("measured:0.4,0.2,0.1", Measured(rates=(0.4, 0.2, 0.1))),
    ],
)
def test_texts_that_people_write(text, model):
    assert find_attention(text) == model


def test_numbers_are_printed_the_same_way_whatever_their_type():
    assert str(Geometric(share=1, positions=np.int64(5))) == "geometric:share=1.0,positions=5"
    assert str(Geometric(share=np.float32(0.5))) == "geometric:share=0.5,positions=5"
    assert str(Measured(rates=np.array([1, -0.0]))) == "measured:1.0,0.0"
    assert str(Cascade()) == "cascade:stop=0.5,persistence=1.0,positions=10"
    assert hash(Measured(rates=[1, 2])) == hash(Measured(rates=(1.0, 2.0)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("geometrical", "geometrical"),
        ("", "no attention model"),
        ("geometric:", "name=value"),
        ("geometric:0.5", "name=value"),
        ("geometric:shares=0.5", "'shares'"),
        ("geometric:share=0.5,share=0.4", "twice"),
        ("geometric:share=half", "number"),
        ("geometric:share=nan", "finite"),
        ("geometric:share=0", "greater than 0"),
        ("geometric:positions=2.5", "whole number"),
        ("geometric:positions=0", "at least 1"),
        ("rbp:persistence=1.5", "at most 1"),
        ("singular:positions=2", "no parameters"),
        ("measured", "sum to a positive"),
        ("measured:0,0", "sum to a positive"),
        ("measured:0.4,-0.1", "not negative"),
        ("measured:0.4,inf", "finite"),
        ("measured:0.4,x", "number"),
        ("measured:1e308,1e308", "finite"),
    ],
)
def test_what_is_no_model_is_refused_in_words(text, words):
    with pytest.raises(ParameterError, match=words):
        find_attention(text)


def test_a_near_miss_is_named():
    with pytest.raises(ParameterError) as caught:
        find_attention("geometrical")
    assert caught.value.hint.startswith("did you mean geometric?")
    with pytest.raises(ParameterError) as caught:
        find_attention("cascade:stops=0.5")
    assert caught.value.hint.startswith("did you mean stop?")


@pytest.mark.parametrize("value", ["half", None])
def test_parameters_of_the_wrong_kind_are_refused(value):
    with pytest.raises(ParameterError, match="share"):
        Geometric(share=value)
    with pytest.raises(ParameterError, match="positions"):
        Discounted(positions=2.0 if value is None else value)
    with pytest.raises(ParameterError, match="rates"):
        Measured(rates=value)


def test_closed_forms():
    many = np.ones(50)
    np.testing.assert_allclose(Geometric().weights(many), np.array([16, 8, 4, 2, 1]) / 31)
    np.testing.assert_allclose(Geometric(positions=1).weights(many), Singular().weights(many))
    np.testing.assert_allclose(
        RankBiased(persistence=0.3).weights(many), Geometric(share=0.7, positions=10).weights(many)
    )
    raw = [1, 1 / np.log2(3), 1 / 2]
    np.testing.assert_allclose(Discounted(positions=3).weights(many), np.array(raw) / sum(raw))
    np.testing.assert_allclose(Measured(rates=(2, 5, 1)).weights(many), [2 / 8, 5 / 8, 1 / 8])
    np.testing.assert_allclose(Measured(rates=(2, 5, 1)).weights(np.ones(2)), [2 / 7, 5 / 7])
    np.testing.assert_allclose(Geometric(share=1.0, positions=3).weights(many), [1, 0, 0])


def chance_of_reading(stop, persistence, grades):
    """By enumeration of everything that may happen above each position."""
    reading = []
    for place in range(len(grades)):
        chance = 0.0
        for stops in product([False, True], repeat=place):
            happens = np.prod([stop * g if s else 1 - stop * g for s, g in zip(stops, grades, strict=False)])
            chance += happens * (not any(stops))
        reading.append(chance * persistence**place)
    return np.array(reading)


@given(chances, chances, st.lists(st.floats(0.01, 5), min_size=1, max_size=6))
def test_the_cascade_is_what_its_searchers_do(stop, persistence, relevance):
    relevance = np.array(sorted(relevance)[::-1])
    reading = chance_of_reading(stop, persistence, relevance / relevance[0])
    weights = Cascade(stop=stop, persistence=persistence, positions=6).weights(relevance)
    np.testing.assert_allclose(weights, reading / reading.sum(), atol=1e-12)


def test_the_cascade_is_exact_under_ties_and_only_there():
    model = Cascade(stop=0.6, positions=3)
    tied, mixed = np.array([4.0, 4.0, 1.0]), np.array([4.0, 2.0, 1.0])
    swapped = chance_of_reading(0.6, 1.0, tied[[1, 0, 2]] / 4)
    np.testing.assert_allclose(model.weights(tied), swapped / swapped.sum())
    swapped = chance_of_reading(0.6, 1.0, mixed[[1, 0, 2]] / 4)
    assert abs(model.weights(mixed) - swapped / swapped.sum()).max() > 0.05


@given(st.floats(0.001, 1000))
def test_the_scale_of_relevance_does_not_matter_to_the_cascade(factor):
    grades = np.array([5.0, 3.0, 3.0, 0.5])
    np.testing.assert_allclose(Cascade().weights(grades * factor), Cascade().weights(grades))


def test_short_rankings_without_measured_attention_are_refused():
    with pytest.raises(ParameterError, match="ranking of 2"):
        Measured(rates=(0, 0, 1)).weights(np.ones(2))
    assert len(Cascade().weights(np.zeros(0))) == 0
    np.testing.assert_allclose(Cascade(positions=2).weights(np.zeros(3)), [0.5, 0.5])
