import sys

import pytest

from aidos.errors import InputError, MissingExtraError
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical import categories
from aidos.rooms.exposure.critical.categories import CATEGORIES, Lexicon, category_label


def test_the_lexicon_is_read_without_importing_the_package():
    lexicon = Lexicon.default()
    assert len(CATEGORIES) == 194
    assert len(lexicon.words) > 7000
    assert "" not in lexicon.words
    assert "empath" not in sys.modules
    assert "requests" not in {name.partition(".")[0] for name in vars(categories)}


def test_words_have_all_their_categories():
    table = Lexicon({"love": ["kiss", "rose"], "plant": ["rose"]}).table(["rose", "kiss", "stone"])
    found = [{name for name, mark in zip(CATEGORIES, row, strict=True) if mark} for row in table]
    assert found == [{"love", "plant"}, {"love"}, set()]


def test_terms_of_a_stemmer_stand_for_all_words_that_have_them():
    lexicon = Lexicon({"love": ["kissing"], "plant": ["kisses"], "war": ["fights"]})
    table = lexicon.term_table(["kiss", "fights"], Analyser(stemmer="english"))
    assert [CATEGORIES[place] for place in table[0].nonzero()[0]] == ["love", "plant"]
    assert not table[1].any()


def test_other_categories_are_refused(tmp_path):
    with pytest.raises(InputError, match="1 categories are not Empath's"):
        Lexicon({"quantum": ["spin"]})
    other = tmp_path / "categories.tsv"
    other.write_text("love\tkiss\n")
    with pytest.raises(InputError, match="not the 194 known ones"):
        categories._read(other)
    with pytest.raises(InputError, match="cannot be read"):
        categories._read(tmp_path / "nothing.tsv")


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setattr(categories, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError) as caught:
        categories._data_file()
    assert caught.value.extra == "exposure"


def test_labels_are_words():
    assert category_label("medical_emergency") == "medical emergency"
    assert category_label("swearing_terms") == "swearing"
    assert all("_" not in category_label(category) for category in CATEGORIES)
