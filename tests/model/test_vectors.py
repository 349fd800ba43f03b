"""Word vectors: learnt ones group words, files of others are read or refused by line."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.model.text.analyser import Analyser
from aidos.model.vectors import WordVectors, train_vectors
from aidos.model.wordlimits import WordLimits

LOOSE = WordLimits(least_people=1, least_texts=1, most_share=1.0)
TEXT = "king 1 0\nqueen 0.6 0.8\ncup 0 -2\n"


def test_rows_have_length_one_and_neighbours_come_by_cosine():
    made = WordVectors(words=("a", "b", "c", "none"), matrix=np.array([[3, 4], [4, 3], [-1, 0], [0, 0]]))
    assert made.matrix == pytest.approx(np.array([[0.6, 0.8], [0.8, 0.6], [-1, 0], [0, 0]]))
    assert [word for word, _ in made.nearest("a", 2)] == ["b", "none"]
    assert made.nearest("a", 1)[0][1] == pytest.approx(0.96)
    assert made.numbers(["c", "z"]).tolist() == [2, -1]
    assert (made.dimensions, len(made)) == (2, 4)
    with pytest.raises(ParameterError, match="the word has no vector"):
        made.nearest("z")


@pytest.mark.parametrize(
    ("words", "matrix"),
    [(("a",), [[1], [2]]), (("a", "a"), [[1], [2]]), (("a",), [[np.nan]]), ((), np.zeros((0, 2))), (("",), [[1]])],
)
def test_impossible_vectors_are_refused(words, matrix):
    with pytest.raises(ParameterError, match="WordVectors"):
        WordVectors(words=words, matrix=np.array(matrix, dtype=np.float64))


def test_words_of_one_company_are_near_and_a_seed_repeats():
    stream = np.random.default_rng(1)
    groups = (("sun", "rain", "snow", "wind"), ("debt", "loan", "bank", "bill"))
    texts = [" ".join(stream.choice(groups[number % 2], 8)) for number in range(600)]
    options = {"dimensions": 12, "limits": LOOSE, "analyser": Analyser(), "epochs": 10, "seed": 5}
    made, again = (train_vectors(texts, **options) for _ in range(2))
    assert made.words == again.words
    assert np.array_equal(made.matrix, again.matrix)
    for group in groups:
        assert {word for word, _ in made.nearest(group[0], 3)} == set(group[1:])
    assert "was not counted" in made.note
    assert train_vectors(texts, **{**options, "epochs": 1, "threads": 2}).words


def test_words_of_few_people_have_no_vector():
    texts, people = ["common rare"] * 3 + ["common odd"] * 3, ["a", "a", "a", "b", "c", "d"]
    limits = WordLimits(least_people=2, least_texts=1, most_share=1.0)
    made = train_vectors(texts, people=people, limits=limits, analyser=Analyser(), dimensions=3, epochs=1)
    assert set(made.words) == {"common", "odd"}
    with pytest.raises(InputError, match="no word is left"):
        train_vectors(texts, people=["a"] * 6)
    with pytest.raises(ParameterError, match="dimensions, epochs"):
        train_vectors(texts, dimensions=0, epochs=0)
    with pytest.raises(ParameterError, match="seed or threads"):
        train_vectors(texts, threads=0)


@pytest.mark.parametrize("name", ["glove.txt", "header.txt", "packed.txt.gz", "binary.bin"])
def test_files_of_others(tmp_path, name):
    path = tmp_path / name
    binary = b"3 2\n" + b"".join(
        word.encode() + b" " + np.array(row, dtype="<f4").tobytes() + b"\n"
        for word, row in (("king", [1, 0]), ("queen", [0.6, 0.8]), ("cup", [0, -2]))
    )
    content = {"glove.txt": TEXT.encode(), "header.txt": f"3 2\n{TEXT}".encode(), "binary.bin": binary}
    path.write_bytes(content.get(name) or gzip.compress(TEXT.encode()))
    found = WordVectors.load(path, analyser=Analyser(shortest=2))
    assert found.words == ("king", "queen", "cup")
    assert found.matrix == pytest.approx(np.array([[1, 0], [0.6, 0.8], [0, -1]]))
    assert (found.analyser, found.note) == (Analyser(shortest=2), f"Loaded from {name}.")
    assert WordVectors.load(path, most_words=2).words == ("king", "queen")


def test_a_word_with_blanks_is_one_word(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n. . . 3 4\n")
    assert WordVectors.load(path).words == ("a", ". . .")


def test_every_problem_of_a_text_file_is_told_by_its_line(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\nb 1\na 3 4\nc 1 x\nd 1 nan\ne 1 2 3\nf 0 1\n")
    with pytest.raises(InputError) as caught:
        WordVectors.load(path)
    problems = {(problem.kind, problem.lines) for problem in caught.value.problems}
    assert problems == {
        ("dimensions", (2,)),
        ("repeated-word", (3,)),
        ("bad-number", (4,)),
        ("bad-number", (5,)),
        ("dimensions", (6,)),
    }
    assert caught.value.message.startswith(f"{path}, line 2: a word and 2 numbers are expected")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("e.txt", b"", "has no vector"),
        ("h.txt", b"3 2\n", "has no vector"),
        ("e.bin", b"", "is empty"),
        ("t.bin", TEXT.encode(), "does not begin as binary vectors do"),
        ("s.bin", b"9 2\nking \0\0\0\0", "too short"),
        ("c.bin", b"1 2\nlong-word-without-an-end", "ends within word 1 of 1"),
        ("d.bin", b"2 1\na \0\0\0\0a \0\0\0\0", "word 2 comes a second time"),
        ("g.txt.gz", b"\x1f\x8bnot packed", "cannot be read"),
        ("v.npz", b"nothing", "does not hold word vectors of aidos"),
    ],
)
def test_files_that_are_none(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        WordVectors.load(tmp_path / name)
    with pytest.raises(InputError, match="there is no file"):
        WordVectors.load(tmp_path / f"absent-{name}")


def test_most_words_is_at_least_one(tmp_path):
    (tmp_path / "v.txt").write_text(TEXT)
    with pytest.raises(ParameterError, match="most_words"):
        WordVectors.load(tmp_path / "v.txt", most_words=0)


@settings(max_examples=30)
@given(st.lists(st.text(min_size=1, max_size=5).filter(lambda w: w.isprintable()), min_size=1, max_size=5, unique=True))
def test_vectors_survive_their_file(tmp_path_factory, words):
    made = WordVectors(words=tuple(words), matrix=np.arange(3.0 * len(words)).reshape(-1, 3) - 4, note="n")
    path = tmp_path_factory.getbasetemp() / "vectors.npz"
    made.save(path)
    found = WordVectors.load(path)
    assert (found.words, found.note, found.analyser) == (made.words, made.note, made.analyser)
    assert found.matrix == pytest.approx(made.matrix, abs=1e-6)
    with pytest.raises(ParameterError, match="was made with the analyser"):
        WordVectors.load(path, analyser=Analyser(shortest=3))
