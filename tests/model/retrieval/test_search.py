import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_index import MadeIndex

from aidos.errors import ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.scorers import BM25, JelinekMercer, QueryLikelihood
from aidos.model.retrieval.search import read_queries, search, search_batch, search_queries
from aidos.model.text.analyser import Analyser
from oracles.retrieval import score_all

SCORERS = [
    QueryLikelihood(),
    QueryLikelihood(mu=0.7),
    QueryLikelihood(mu=1e15),
    QueryLikelihood(matching_only=True),
    QueryLikelihood(mu=3.0, matching_only=True),
    JelinekMercer(weight=0.2),
    JelinekMercer(weight=0.9, matching_only=True),
    BM25(),
    BM25(k1=0.0, b=1.0),
]
words = st.sampled_from("abcdefgh")
documents = st.lists(st.lists(words, max_size=25), min_size=1, max_size=30)


@st.composite
def indexes(draw):
    texts = draw(documents)
    numbers = st.integers(0, len(texts) - 1)
    return MadeIndex(texts, cuts=draw(st.sets(numbers, max_size=3)), deleted=draw(st.sets(numbers, max_size=8)))


def check(hits, expected):
    """Scores to 1e-9; documents where scores say which; equal scores in document order."""
    assert hits.scores == pytest.approx([score for _, score in expected], abs=1e-9)
    true = dict(expected)
    for place, score in zip(hits.places.tolist(), hits.scores.tolist(), strict=True):
        assert score == pytest.approx(true[place], abs=1e-9)
    pairs = list(zip(-hits.scores, hits.places, strict=True))
    assert pairs == sorted(pairs)
    assert len(set(hits.places.tolist())) == len(hits)
    assert hits.ids == tuple(f"d{place}" for place in hits.places)


@settings(max_examples=150, deadline=None)
@given(indexes(), st.lists(st.sampled_from("abcdefghxy"), max_size=6), st.sampled_from(SCORERS), st.integers(1, 40))
def test_the_same_as_scoring_every_document(index, query, scorer, size):
    expected = score_all(index.left(), query, scorer)
    hits = search(index, " ".join(query), scorer, size)
    kept = expected[:size]
    if len(expected) > size:
        # Rounding may choose another one of documents that are equal in truth.
        kept = [(place, score) for place, score in expected if score >= kept[-1][1] - 1e-9]
        assert len(hits) == size
        kept = [pair for pair in kept if pair[0] in set(hits.places.tolist())]
    check(hits, kept)
    assert hits.unknown == tuple(dict.fromkeys(word for word in query if not _stands(index, word)))


def _stands(index, word):
    return any(word in text for text in index.left() if text is not None)


@settings(max_examples=40, deadline=None)
@given(indexes(), st.lists(st.lists(st.sampled_from("abcdefghxy"), max_size=4), max_size=150), st.sampled_from(SCORERS))
def test_a_batch_is_its_queries_one_by_one_on_any_number_of_threads(index, queries, scorer):
    texts = [" ".join(query) for query in queries]
    batches = [search_batch(index, texts, scorer, 5, threads) for threads in (1, 3, None)]
    for batch in batches:
        assert len(batch) == len(texts)
        assert batch.ids() == [hits.ids for hits in batch]
        for text, hits in zip(texts, batch, strict=True):
            alone = search(index, text, scorer, 5)
            assert hits.ids == alone.ids
            assert hits.scores.tolist() == alone.scores.tolist()
            assert hits.unknown == alone.unknown


@settings(max_examples=60, deadline=None)
@given(documents, st.lists(words, min_size=1, max_size=6), st.sampled_from(SCORERS), st.randoms())
def test_scores_are_the_same_bits_however_words_and_documents_are_arranged(texts, query, scorer, random):
    whole = search(MadeIndex(texts), " ".join(query), scorer, 50)
    random.shuffle(query)
    cut = MadeIndex(texts, cuts=range(1, len(texts), 3))
    again = search(cut, " ".join(query), scorer, 50)
    assert whole.ids == again.ids
    assert whole.scores.tolist() == again.scores.tolist()


@pytest.mark.parametrize("scorer", SCORERS, ids=str)
def test_equal_documents_stand_in_document_order(scorer):
    index = MadeIndex([["cat", "dog"], ["bird"], ["dog", "cat"], ["cat", "dog"]] * 30, cuts=(7, 50), deleted=[4])
    hits = search(index, "cat", scorer, 1000)
    assert list(hits.places) == [place for place in range(120) if place % 4 != 1 and place != 4]
    assert len(set(hits.scores.tolist())) == 1
    assert list(search(index, "cat", scorer, 10).places) == list(hits.places[:10])


@pytest.mark.parametrize("scorer", SCORERS, ids=str)
def test_long_lists_and_large_frequencies(scorer):
    stream = np.random.default_rng(5)
    texts = [["the"] * int(stream.integers(1, 60)) + list(stream.choice(list("abcd"), 3)) for _ in range(400)]
    index = MadeIndex(texts, cuts=(150,), deleted=range(0, 400, 7))
    for query in (["the"], ["the", "a"], ["d", "c", "the", "the"]):
        check(search(index, " ".join(query), scorer, 1000), score_all(index.left(), query, scorer))


def test_a_repeated_word_counts_twice():
    index = MadeIndex([["cat", "mat"], ["dog", "mat", "mat"]])
    once, twice = search(index, "cat mat", BM25()), search(index, "cat mat mat", BM25())
    assert once.ids == ("d0", "d1")
    assert twice.scores[1] == pytest.approx(2 * search(index, "mat", BM25()).scores[0])
    assert once.scores[1] == pytest.approx(twice.scores[1] / 2)


@pytest.mark.parametrize("query", ["", " ?! ", "unicorn", "unicorn yeti"])
def test_nothing_known_finds_nothing_and_says_so(query):
    hits = search(MadeIndex([["cat"], []]), query)
    assert (len(hits), hits.ids) == (0, ())
    assert hits.unknown == tuple(query.split() if query.isprintable() and "?" not in query else ())


def test_a_word_of_deleted_documents_only_is_unknown():
    index = MadeIndex([["cat"], ["dog"]], deleted=[1])
    hits = search(index, "dog cat")
    assert (hits.ids, hits.unknown) == (("d0",), ("dog",))


def test_an_index_without_documents_finds_nothing():
    assert search(MadeIndex([]), "cat").ids == ()
    assert search(MadeIndex([["cat"]], deleted=[0]), "cat").ids == ()
    assert len(search_batch(MadeIndex([]), ["cat", ""])) == 2
    assert len(search_batch(MadeIndex([["cat"]]), [])) == 0


def test_queries_that_were_read_serve_several_searches():
    index = MadeIndex([["cat", "dog"], ["dog"]])
    queries = read_queries(index, ["dog yeti dog", "", "cat"])
    assert queries.starts.tolist() == [0, 2, 2, 3]
    assert queries.unknown == {0: ("yeti",)}
    for scorer in SCORERS:
        found = search_queries(index, queries, scorer, 10)
        assert [hits.ids for hits in found] == [search(index, text, scorer).ids for text in ("dog dog", "", "cat")]
    assert [hits.ids for hits in found[1:]] == [(), ("d0",)]


@pytest.mark.parametrize("wrong", [{"size": 0}, {"threads": 0}])
def test_impossible_sizes_are_refused(wrong):
    with pytest.raises(ParameterError):
        search_batch(MadeIndex([["cat"]]), ["cat"], **wrong)


def test_an_index_in_memory_or_mapped_finds_the_same(tmp_path):
    stream = np.random.default_rng(8)
    texts = [list(stream.choice(list("abcdefgh"), stream.integers(0, 20))) for _ in range(60)]
    pairs = [(f"d{number}", " ".join(text)) for number, text in enumerate(texts)]
    built = Index.build(pairs[:35], analyser=Analyser())
    built.add(pairs[35:])
    built.delete(["d3", "d40"])
    built.save(tmp_path / "index")
    mapped = Index.open(tmp_path / "index")
    made = MadeIndex(texts, deleted=[3, 40])
    asked = ["a", "b c c", "h g f yeti", ""]
    for scorer in SCORERS:
        expected = [(hits.ids, hits.scores.tolist()) for hits in search_batch(made, asked, scorer, 100)]
        for index in (built, mapped):
            found = search_batch(index, asked, scorer, 100)
            assert [(hits.ids, hits.scores.tolist()) for hits in found] == expected
            assert found.ids() == [ids for ids, _ in expected]


def test_the_matching_form_agrees_with_pisa():
    # Scores of PISA's qld, in single precision, through pyterrier-pisa 0.4.9 with ranked_or and block_max_wand (the
    # same), stemmer and stop words off, on these six documents; repeated words with query_weighted=True.
    texts = [
        "the cat sat on the mat",
        "the dog sat",
        "a cat and a dog and a cat",
        "dog dog dog",
        "the the the the the the the the end of the long story about the mat",
        "bird",
    ]
    recorded = {
        (10.0, "cat dog"): [("d3", 0.90701723), ("d2", 0.65540689), ("d0", 0.33349159), ("d1", 0.29152086)],
        (10.0, "the mat"): [("d0", 0.57731533), ("d4", 0.48336971)],
        (10.0, "the"): [("d4", 0.39156222)],
        (10.0, "dog dog"): [("d3", 1.81403446), ("d1", 0.58304173)],
        (10.0, "story unicorn"): [("d4", 0.59205103)],
        (10.0, "unicorn"): [],
        (1000.0, "the mat"): [("d4", 0.01464832), ("d0", 0.01234885)],
        (1000.0, "cat the dog bird sat"): [
            ("d5", 0.03533240),
            ("d1", 0.01971271),
            ("d3", 0.01896165),
            ("d0", 0.01862473),
            ("d2", 0.01639916),
            ("d4", 0.01219073),
        ],
    }
    index = MadeIndex([text.split() for text in texts])
    for (mu, query), expected in recorded.items():
        hits = search(index, query, QueryLikelihood(mu=mu, matching_only=True))
        assert list(hits.ids) == [name for name, _ in expected]
        assert hits.scores == pytest.approx([score for _, score in expected], abs=2e-6)
