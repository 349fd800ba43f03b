"""Function words and scripts tell that a word is not English."""

import pytest

from aidos.model.text.analyser import ENGLISH
from aidos.model.text.language import FOREIGN, HEAVY, LIGHT, PARTICLE, foreign_marks
from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import TopicSearch


def test_words_are_marked_by_what_they_tell():
    marks = foreign_marks(["und", "avec", "fr", "de", "la", "музыка", "音楽", "garden", "naïve", "café", "4", ""])
    assert marks == [FOREIGN, FOREIGN, 0, PARTICLE, PARTICLE, FOREIGN, FOREIGN, 0, 0, 0, 0, 0]


def test_no_function_word_of_english_tells_another_language():
    assert not HEAVY & ENGLISH
    assert not HEAVY & LIGHT


@pytest.mark.parametrize(
    "query",
    [
        "die besten hotels in paris", "depression was tun", "wetter morgen münchen", "gift im garten", "chat malade",
        "avocat divorce", "hotel barato en madrid", "noticias deporte", "auto usate", "carros usados", "gravid symptom",
        "hamilelik belirtileri", "pogoda jutro", "fiets repareren",
    ],
)  # fmt: skip
def test_short_queries_of_other_languages_get_no_topic(query):
    # Words like "gift", "chat", "die" or "depression" would be all that they are judged by.
    assert not len(TopicSearch(default_taxonomy()).find(query))


@pytest.mark.parametrize(
    "english",
    [
        "dove soap",
        "grand prix",
        "ben hur",
        "hay bales",
        "uma",
        "notre dame",
        "lake como",
        "kinder egg",
        "el nino",
        "maiden voyage",
        "evansville",
    ],
)
def test_names_in_english_texts_are_not_foreign(english):
    assert FOREIGN not in foreign_marks(english.split())
