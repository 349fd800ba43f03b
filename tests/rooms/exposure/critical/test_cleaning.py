import numpy as np
import pytest
from town import Town, rows_of

from aidos.errors import InputError
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.cleaning import REASONS, Dictionary, clean
from aidos.rooms.exposure.queries.records import NO_WORD


@pytest.fixture(scope="module")
def linked():
    return Town(
        [
            (0, "garden of roses at https://shop.example.org/garden/lilies"),
            (0, "@marta and @lena like garden marta"),
            (0, "room 101 is ok for qwertz zxcvb"),
        ]
    )


def reason(town, post, *words, whole=True):
    numbers = sorted(town.numbers[word] for word in words)
    row = (0, post, numbers[0], numbers[1] if len(numbers) == 2 else NO_WORD, 1, whole, True, 1, 0)
    return REASONS[clean(town, rows_of(row)).reasons[0]]


@pytest.mark.parametrize(
    ("post", "words", "expected"),
    [
        (0, ["roses"], "kept"),
        (0, ["garden"], "kept"),  # also outside of the address
        (0, ["lilies"], "web address"),
        (0, ["roses", "shop"], "web address"),
        (0, ["https"], "web address"),
        (1, ["lena"], "mention"),
        (1, ["lena", "garden"], "mention"),
        (1, ["marta", "garden"], "kept"),  # also said without the sign
        (2, ["101"], "number"),
        (2, ["101", "room"], "number"),
        (2, ["ok"], "short word"),
        (2, ["ok", "room"], "short word"),
        (2, ["qwertz"], "no dictionary word"),
        (2, ["qwertz", "zxcvb"], "no dictionary word"),
        (2, ["qwertz", "room"], "kept"),
    ],
)
def test_each_reason(linked, post, words, expected):
    assert reason(linked, post, *words) == expected


def test_partial_matches_are_marked_unless_kept(linked):
    row = rows_of((0, 2, *sorted([linked.numbers["room"], linked.numbers["roses"]]), 1, False, True, 1, 0))
    assert clean(linked, row).counts() == {"partial match": 1}
    assert clean(linked, row, partial=True).kept.tolist() == [True]


def test_words_are_looked_for_in_the_post_of_the_row(linked):
    # An address of another post does not count.
    lilies, room = linked.numbers["lilies"], linked.numbers["room"]
    rows = rows_of(*((0, post, *sorted([lilies, room]), 1, False, True, 1, 0) for post in (0, 2)))
    assert [REASONS[code] for code in clean(linked, rows, partial=True).reasons] == ["web address", "kept"]


def test_counts_add_up_over_members(town):
    exposures = town.exposures()
    cleaned = clean(town, exposures)
    assert sum(cleaned.counts().values()) + cleaned.kept.sum() == len(exposures)
    for member in range(3):
        alone = clean(town, town.exposures(member))
        assert np.array_equal(alone.reasons, cleaned.reasons[exposures.members == member])
    assert set(cleaned.counts()) == set(REASONS) - {"kept"}


def test_the_default_dictionary_knows_inflected_words_and_stems():
    words = ["kisses", "diagnosed", "the", "mortgage", "qwertz"]
    assert Dictionary.default().known(words, Analyser()).tolist() == [True, True, True, True, False]
    stemmed = Analyser(stemmer="english")
    terms = stemmed.meanings(words)
    assert Dictionary.default().known(terms, stemmed).tolist() == [True, True, True, True, False]


def test_a_community_brings_its_own_dictionary(linked, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("qwertz\nZXCVB\n\n", encoding="utf-8")
    dictionary = Dictionary.read(path)
    assert dictionary.words == {"qwertz", "zxcvb"}
    exposures = linked.exposures(0)
    own = clean(linked, exposures, dictionary=dictionary)
    kept = exposures.take(own.kept)
    held = {linked.numbers["qwertz"], linked.numbers["zxcvb"]}
    assert len(kept)
    assert all({int(a), int(b)} & held for a, b in zip(kept.first, kept.second, strict=True))
    assert Dictionary(["kissing"]).known(["kiss"], Analyser(stemmer="english")).tolist() == [True]
    assert Dictionary(["kissing"]).known(["kiss"], Analyser()).tolist() == [False]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "holds no word"),
        (b"one\ntwo words\n", "line 2"),
        (b"\xff\xfe", "not in UTF-8"),
        (None, "there is no file"),
    ],
)
def test_bad_dictionaries_are_refused(tmp_path, content, told):
    path = tmp_path / "words.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=told) as caught:
        Dictionary.read(path)
    assert caught.value.hint
