"""Posts cut into pieces with the words of a query marked."""

from hypothesis import given
from hypothesis import strategies as st

from aidos.model.text.analyser import Analyser
from aidos.model.text.excerpts import GAP, WHOLE, excerpt

PLAIN = Analyser()


def marked(pieces):
    return [piece for piece, mark in pieces if mark]


def test_short_posts_are_whole_with_every_word_of_the_query_marked():
    pieces = excerpt("Debt? My debt, and a lawyer.", PLAIN, {"debt", "lawyer"})
    assert "".join(piece for piece, _ in pieces) == "Debt? My debt, and a lawyer."
    assert marked(pieces) == ["Debt", "debt", "lawyer"]


def test_stemmed_words_are_marked_as_they_stand():
    pieces = excerpt("two debts and one debt", Analyser(stemmer="english"), {"debt"})
    assert marked(pieces) == ["debts", "debt"]


def test_long_posts_show_what_stands_around_the_words():
    text = "before " * 100 + "here is the debt that hurts " + "after " * 100
    pieces = excerpt(text, PLAIN, {"debt"})
    shown = "".join(piece for piece, _ in pieces)
    assert marked(pieces) == ["debt"]
    assert "here is the debt that hurts" in shown
    assert shown.startswith(GAP)
    assert shown.endswith(GAP)
    assert len(shown) < WHOLE


def test_a_long_post_without_the_words_shows_its_beginning():
    pieces = excerpt("word " * 200, PLAIN, {"other"})
    assert not marked(pieces)
    assert pieces[0][0].startswith("word word")


@given(st.text(alphabet="ab c.", max_size=900), st.sets(st.sampled_from(["a", "ab", "ba"])))
def test_pieces_come_from_the_text_and_marks_are_the_words(text, terms):
    pieces = excerpt(text, PLAIN, terms)
    assert all(piece in text for piece, _ in pieces if piece != GAP)
    assert all(piece in terms for piece in marked(pieces))
    if len(text) <= WHOLE:
        assert "".join(piece for piece, _ in pieces) == text
        assert len(marked(pieces)) == sum(token.term in terms for token in PLAIN.tokens(text))
