from aidos.model.text.analyser import Analyser
from aidos.model.text.excerpts import written_forms
from aidos.report.values import counted

STEMS = Analyser(stop_words="english", stemmer="english")


def test_words_are_shown_as_they_are_mostly_written():
    texts = ["Divorced and empty. The divorce! My DIVORCE", "emptiness, empties"]
    assert written_forms(texts, STEMS, {"divorc", "empti", "absent"}) == {
        "divorc": "divorce",
        "empti": "empties",
        "absent": "absent",
    }


def test_numbers_have_their_nouns():
    assert [counted(number, "entry", "entries") for number in (0, 1, 2, 1234)] == [
        "0 entries",
        "1 entry",
        "2 entries",
        "1,234 entries",
    ]
