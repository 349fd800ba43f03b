import sys
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import MissingExtraError, ParameterError
from aidos.model.text.analyser import ENGLISH, Analyser, Token

ENGLISH_STEMS = Analyser(stop_words="english", stemmer="english")


def test_terms_are_runs_of_letters_and_numbers_in_lower_case():
    assert Analyser().terms("Öl, 4x4-Räder & e_mail\u00b2") == ["öl", "4x4", "räder", "e", "mail²"]


def test_tokens_know_where_their_words_stand():
    text = "Grüße, WORLD! 𐐀b"
    tokens = Analyser().tokens(text)
    assert tokens == [Token("grüße", 0, 5), Token("world", 7, 12), Token("𐐨b", 14, 16)]
    assert [text[token.start : token.end] for token in tokens] == ["Grüße", "WORLD", "𐐀b"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("don't", ["don't"]),
        ("don\u2019t", ["don't"]),
        ("'quoted' words'", ["quoted", "words"]),
        ("rock''n", ["rock", "n"]),
        ("90's 5'4", ["90", "s", "5", "4"]),
        ("l'homme d'", ["l'homme", "d"]),
    ],
)
def test_an_apostrophe_belongs_to_a_word_between_letters_only(text, terms):
    assert Analyser().terms(text) == terms


def test_marks_go_on_with_a_word_and_do_not_begin_one():
    assert Analyser().terms("cafe\u0301 \u0301 \u0301x") == ["cafe\u0301", "x"]
    assert Analyser().terms("हिन्दी") == ["हिन्दी"]


def test_case_is_changed_one_character_at_a_time():
    assert Analyser().terms("İSTANBUL ΟΔΟΣ οδος") == ["istanbul", "οδοσ", "οδοσ"]


def test_compatibility_forms_are_terms_of_their_own():
    assert Analyser().terms("ﬁne fine") == ["ﬁne", "fine"]


def test_stop_words_short_words_and_stems():
    assert ENGLISH_STEMS.terms("The runners don\u2019t like Anna's running") == ["runner", "like", "anna", "run"]
    assert Analyser(shortest=3).terms("an apple is red") == ["apple", "red"]
    assert Analyser(shortest=5, stemmer="english").terms("cars trains") == ["train"]
    assert Analyser(stemmer="german").terms("Häuser") == ["haus"]


def test_tokens_of_words_left_out_are_left_out():
    assert ENGLISH_STEMS.tokens("the cats") == [Token("cat", 4, 8)]


def test_stop_words_can_be_terms():
    assert len(ENGLISH) == 154
    assert all(Analyser().terms(word) == [word] for word in ENGLISH)


@pytest.mark.parametrize(
    ("analyser", "text"),
    [
        (Analyser(), "words"),
        (ENGLISH_STEMS, "words:stop_words=english,stemmer=english"),
        (Analyser(stemmer="french", shortest=2), "words:stemmer=french,shortest=2"),
    ],
)
def test_an_analyser_prints_and_parses(analyser, text):
    assert str(analyser) == text
    assert Analyser.parse(text) == analyser


@pytest.mark.parametrize(
    "text",
    [
        "",
        "letters",
        "words:length=3",
        "words:shortest=x",
        "words:shortest=0",
        "words:stemmer=klingon",
        "words:stop_words=all",
        "words:shortest=1,shortest=2",
    ],
)
def test_what_is_no_analyser_is_refused(text):
    with pytest.raises(ParameterError):
        Analyser.parse(text)


@pytest.mark.parametrize("given", [{"stop_words": "german"}, {"stemmer": "klingon"}, {"shortest": 0}])
def test_impossible_parameters_are_refused(given):
    with pytest.raises(ParameterError):
        Analyser(**given)


def test_a_missing_stemmer_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(MissingExtraError) as caught:
        Analyser(stemmer="english")
    assert caught.value.extra == "search"


@given(st.text())
def test_tokens_cover_every_letter_and_number_once(text):
    tokens = Analyser().tokens(text)
    assert all(before.end <= after.start for before, after in pairwise(tokens))
    covered = {place for token in tokens for place in range(token.start, token.end)}
    assert {place for place, sign in enumerate(text) if unicodedata.category(sign)[0] in "LN"} <= covered
    assert all(unicodedata.category(text[place])[0] in "LNM" or text[place] in "'\u2019" for place in covered)
    assert all(len(token.term) == token.end - token.start for token in tokens)
