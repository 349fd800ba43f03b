import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.model.retrieval.scorers import BM25, SCORERS, Collection, JelinekMercer, QueryLikelihood, parse_scorer
from oracles.retrieval import score_all

positive = st.floats(1e-9, 1e9)
scorers = st.one_of(
    st.builds(QueryLikelihood, mu=st.none() | positive, matching_only=st.booleans()),
    st.builds(JelinekMercer, weight=st.floats(1e-6, 0.999), matching_only=st.booleans()),
    st.builds(BM25, k1=st.floats(0, 1e6), b=st.floats(0, 1)),
)
DOCUMENTS = [["a", "b", "b", "c"], ["a", "a"], ["c", "d"]]


@given(scorers)
def test_text_and_scorer_are_the_same_thing(scorer):
    assert parse_scorer(str(scorer)) == scorer
    assert str(parse_scorer(str(scorer))) == str(scorer)


@pytest.mark.parametrize(
    ("text", "scorer"),
    [
        ("ql-dirichlet", QueryLikelihood()),
        ("ql-dirichlet:mu=50", QueryLikelihood(mu=50)),
        ("ql-dirichlet:matching_only=true", QueryLikelihood(matching_only=True)),
        ("ql-jm:weight=0.1", JelinekMercer(weight=0.1)),
        ("bm25:k1=0.9,b=0.4", BM25(k1=0.9, b=0.4)),
        (" bm25 ", BM25()),
    ],
)
def test_scorers_are_written_plainly(text, scorer):
    assert parse_scorer(text) == scorer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bm52", "did you mean bm25"),
        ("", "choose from"),
        ("bm25:mu=3", "set by k1, b"),
        ("bm25:k1", "set by k1, b"),
        ("bm25:k1=1,k1=2", "at most once"),
        ("bm25:k1=much", "must be a number"),
        ("ql-jm:matching_only=1", "true or false"),
        ("ql-jm:weight=1", "less than 1"),
        ("ql-dirichlet:mu=0", "greater than 0"),
        ("ql-dirichlet:mu=nan", "finite"),
        ("bm25:b=1.5", "at most 1"),
    ],
)
def test_nonsense_is_refused_with_a_remedy(text, words):
    with pytest.raises(ParameterError) as caught:
        parse_scorer(text)
    assert words in f"{caught.value.message} {caught.value.hint}"


def test_every_scorer_is_known_by_its_name():
    assert {str(kind()).partition(":")[0] for kind in SCORERS.values()} == set(SCORERS)


def test_full_dirichlet_by_hand():
    # 8 words, mean length 8/3; P(b) = 2/8, P(d) = 1/8.
    mu = 8 / 3
    expected = {
        0: math.log((2 + mu / 4) / (4 + mu)) + math.log((mu / 8) / (4 + mu)),
        2: math.log((mu / 4) / (2 + mu)) + math.log((1 + mu / 8) / (2 + mu)),
    }
    assert dict(score_all(DOCUMENTS, ["b", "d"], QueryLikelihood())) == pytest.approx(expected)


def test_full_jelinek_mercer_by_hand():
    expected = {0: math.log(0.7 * 2 / 4 + 0.3 * 2 / 8), 2: math.log(0.3 * 2 / 8)}
    found = dict(score_all(DOCUMENTS, ["b", "d"], JelinekMercer(weight=0.3)))
    assert found[0] == pytest.approx(expected[0] + math.log(0.3 / 8))
    assert found[2] == pytest.approx(expected[2] + math.log(0.7 / 2 + 0.3 / 8))


def test_bm25_by_hand():
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = {0: idf * 2 / (2 + 0.9 * (0.6 + 0.4 * 4 / (8 / 3)))}
    assert dict(score_all(DOCUMENTS, ["b"], BM25())) == pytest.approx(expected)


@given(scorers, st.integers(0, 50), st.integers(1, 40), st.integers(50, 400))
def test_the_three_parts_of_dirichlet_add_up_to_the_whole(scorer, often, count, length):
    if not isinstance(scorer, QueryLikelihood) or scorer.matching_only:
        scorer = QueryLikelihood(mu=30.0)
    one = np.array([0], dtype=np.int64)
    collection = Collection(documents=10, tokens=1000, term_counts=np.array([count]), document_counts=np.array([1]))
    mu = scorer.smoothing(collection.mean_length)
    rate, constant = scorer.rates(collection, one)[0], scorer.constants(collection, one)[0]
    part = scorer.length_parts(collection.mean_length, np.array([length]))[0]
    whole = math.log((often + mu * count / 1000) / (length + mu))
    assert math.log1p(often * rate) + part + constant == pytest.approx(whole, abs=1e-9)
