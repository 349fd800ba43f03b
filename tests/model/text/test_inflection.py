"""Plurals become singulars, and unlike words stay apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.model.text.inflection import IRREGULAR, inflections, lemma


@pytest.mark.parametrize(
    ("words", "one"),
    [
        ("dog dogs dog's", "dog"),
        ("city cities", "city"),
        ("glass glasses", "glass"),
        ("box boxes", "box"),
        ("shoe shoes", "shoe"),
        ("potato potatoes", "potato"),
        ("woman women womens", "woman"),
        ("virus viruses", "virus"),
        ("guinea'pig guinea'pigs", "guinea'pig"),
        ("las'vegas", "las'vegas"),
        ("physics", "physics"),
        ("tennis", "tennis"),
        ("news", "news"),
        ("aids", "aids"),
    ],
)
def test_the_forms_of_a_noun_are_one_word(words, one):
    assert {lemma(word) for word in words.split()} == {one}


@pytest.mark.parametrize(
    "unlike",
    [
        "transit transition transitory",
        "screen screening screener",
        "university universe universal",
        "new news",
        "organ organic",
    ],
)
def test_words_that_only_begin_alike_stay_apart(unlike):
    assert len({lemma(word) for word in unlike.split()}) == len(unlike.split())


@given(st.text(alphabet="abcdeghinorstuxyz'", max_size=9) | st.sampled_from(sorted(IRREGULAR)))
def test_a_lemma_is_its_own_lemma_or_shorter_and_never_longer(word):
    assert len(lemma(word)) <= len(word) or word in IRREGULAR
    assert lemma(word)[:1] == word[:1] or not word.strip("'s")


@pytest.mark.parametrize(
    ("word", "form"), [("swim", "swimming"), ("hiking", "hike"), ("baked", "bake"), ("ski", "skiing")]
)
def test_forms_of_a_verb_are_tried(word, form):
    assert form in inflections(word)


def test_no_form_leads_to_an_unlike_word():
    assert "transition" not in inflections("transit")
    assert "cancerous" not in inflections("cancer")
    assert inflections("été") == inflections("4x4s") == inflections("ab") == []
    assert "word" not in inflections("word")
