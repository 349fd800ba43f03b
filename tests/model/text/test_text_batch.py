import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError
from aidos.model.text import batch
from aidos.model.text.analyser import Analyser, kind_of, lower, tables
from aidos.model.text.batch import BatchAnalysis, analyse
from aidos.model.text.vocabulary import Vocabulary

ANALYSERS = [
    Analyser(),
    Analyser(stop_words="english"),
    Analyser(stop_words="english", stemmer="english", shortest=2),
]
WORDS = [
    "the",
    "The",
    "running",
    "RUNS",
    "don't",
    "don\u2019t",
    "ÉCOLE",
    "e\u0301",
    "日本",
    "Ⱥ",
    "𐐀𐐨",
    "x'",
    "'s",
    "2²",
    "ΣΑΣ",
]
# Whole words beside arbitrary characters, halves of astral ones (surrogates) among them.
TEXTS = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=())),
    st.lists(st.sampled_from(WORDS) | st.text(max_size=3)).map(" ".join),
    st.lists(st.sampled_from(WORDS)).map("".join),
)


def spelled(analysed, vocabulary):
    terms = [vocabulary.term(number) for number in analysed.terms]
    return [terms[begin:end] for begin, end in zip(analysed.starts, analysed.starts[1:], strict=False)]


def plain(texts, analyser):
    return [analyser.terms(text or "") for text in texts]


@pytest.mark.parametrize("analyser", ANALYSERS, ids=str)
@given(texts=st.lists(TEXTS))
def test_batches_are_analysed_as_single_texts_are(analyser, texts):
    vocabulary = Vocabulary()
    expected = plain(texts, analyser)
    assert spelled(analyse(texts, vocabulary, analyser=analyser), vocabulary) == expected
    assert list(vocabulary) == list(dict.fromkeys(term for terms in expected for term in terms))


def test_the_tables_say_what_the_functions_say():
    kinds, small = tables()
    points = [*range(0x3000), *range(0x3000, 0x110000, 97)]
    assert [kind_of(chr(point)) for point in points] == kinds[points].tolist()
    words = [point for point in points if kinds[point]]
    assert [ord(lower(chr(point))) for point in words] == small[words].tolist()


def test_numbers_do_not_depend_on_how_texts_are_cut(monkeypatch):
    texts = [f"word{number % 700} the Running{number % 90} of" for number in range(3000)] + ["", None, "x" * 5000]
    whole, cut = Vocabulary(), Vocabulary()
    expected = analyse(texts, whole, analyser=ANALYSERS[2])
    monkeypatch.setattr(batch, "PORTION", 100)
    work = BatchAnalysis(ANALYSERS[2], cut)
    parts = [work.analyse(texts[begin : begin + 500]) for begin in range(0, len(texts), 500)]
    assert np.concatenate([part.terms for part in parts]).tolist() == expected.terms.tolist()
    assert list(whole) == list(cut)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["One two", None, "", "two THREE"]),
        pa.array(["zero", "One two", None, "", "two THREE", "four"], type=pa.large_string()).slice(1, 4),
        pa.chunked_array([["One two", None], [], ["", "two THREE"]], type=pa.string()),
        pa.array(["One two", None, "", "two THREE"]).dictionary_encode(),
        pa.array(["One two", None, "", "two THREE"], type=pa.string_view()),
    ],
    ids=["string", "slice", "chunked", "dictionary", "view"],
)
def test_all_kinds_of_arrow_strings_are_read(column):
    vocabulary = Vocabulary()
    assert spelled(analyse(column, vocabulary), vocabulary) == [["one", "two"], [], [], ["two", "three"]]


@pytest.mark.parametrize(
    "nothing", [[], [""], [None], pa.array([], type=pa.string()), pa.chunked_array([], pa.string()), pa.nulls(2)]
)
def test_nothing_gives_no_terms(nothing):
    analysed = analyse(nothing, Vocabulary())
    assert len(analysed) == len(nothing)
    assert analysed.terms.size == 0
    assert analysed.starts.tolist() == [0] * (len(nothing) + 1)


def test_nulls_that_cover_bytes_are_empty():
    hidden = pa.Array.from_buffers(
        pa.string(), 2, [pa.py_buffer(b"\x02"), pa.py_buffer(np.array([0, 3, 6], np.int32)), pa.py_buffer(b"onetwo")]
    )
    vocabulary = Vocabulary()
    assert spelled(analyse(hidden, vocabulary), vocabulary) == [[], ["two"]]


@given(st.lists(st.binary()))
def test_broken_utf8_parts_words_and_does_no_harm(pieces):
    bounds = np.cumsum([0, *map(len, pieces)]).astype(np.int32)
    broken = pa.Array.from_buffers(
        pa.string(), len(pieces), [None, pa.py_buffer(bounds), pa.py_buffer(b"".join(pieces))]
    )
    vocabulary = Vocabulary()
    found = spelled(analyse(broken, vocabulary), vocabulary)
    for piece, terms in zip(pieces, found, strict=True):
        if piece.isascii():
            assert terms == Analyser().terms(piece.decode())


def test_what_is_no_text_is_refused():
    with pytest.raises(InputError):
        analyse([1, 2], Vocabulary())
    with pytest.raises(InputError):
        analyse(pa.array([1, 2]), Vocabulary())
