"""SQLite FTS5: order, quoting, damage."""

import os
import sqlite3
import stat
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import EngineError, InputError, ParameterError, ServiceError
from aidos.service import sqlite_fts
from aidos.service.sqlite_fts import SqliteFts

ROWS = [
    ("a", "Repairing a windmill", "The sails of the mill are mended with canvas."),
    ("b", "Café on the hill", "Coffee beside an old windmill, and a windmill far away."),
    ("c", "Sailing", "Wind and canvas."),
    ("d", "", ""),
]


@pytest.fixture
def service():
    with SqliteFts.build(ROWS) as built:
        yield built


def ids(service, query, size=10):
    return [found.object_id for found in service.search(query, size)]


def test_results_come_best_first_with_title_snippet_and_position(service):
    results = service.search("windmill canvas")
    assert [found.object_id for found in results] == ["a", "c", "b"]
    assert [found.position for found in results] == [1, 2, 3]
    assert (results[0].title, results[0].url) == ("Repairing a windmill", "")
    assert results[0].snippet == "The sails of the mill are mended with canvas."
    scores = [found.score for found in results]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0
    assert ids(service, "windmill canvas", 1) == ["a"]


def test_case_and_accents_do_not_matter_and_unknown_words_find_nothing(service):
    assert ids(service, "CAFE") == ids(service, "café") == ["b"]
    assert ids(service, "zeppelin") == ids(service, "…") == []


def test_equal_documents_stay_in_the_order_in_which_they_were_added():
    names = [f"{7919 * number % 101}" for number in range(1, 60)]
    with SqliteFts.build((name, "mill", "the same words") for name in names) as service:
        assert ids(service, "words", 100) == names
        service.delete([names[3]])
        service.add([(names[3], "mill", "the same words")])
        assert ids(service, "words mill", 100) == [*names[:3], *names[4:], names[3]]


@pytest.mark.parametrize(
    "query",
    [
        'windmill" OR "canvas',
        "title:windmill",
        "windmill NOT mill",
        "NEAR(windmill canvas)",
        "windmi*",
        "^windmill",
        "{title}: x",
        "a AND (b OR",
        "-windmill",
        '"',
        "'; DROP TABLE words; --",
        "+ - * ^ : ( ) { }",
    ],
)
def test_operators_are_words(service, query):
    expected = {row[0] for row in ROWS if any(plain_match(word, row) for word in query.split())}
    assert set(ids(service, query)) == expected


def plain_match(word, row):
    """Whether the letters of a quoted word stand as a phrase in title or text."""
    asked = plain_words(word)
    places = [plain_words(part) for part in row[1:]]
    return bool(asked) and any(
        asked == words[at : at + len(asked)] for words in places for at in range(len(words) - len(asked) + 1)
    )


def plain_words(text):
    return "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
@settings(max_examples=300)
def test_no_text_is_a_syntax_error(query):
    with SqliteFts.build(ROWS) as service:
        found = service.search(query) if query.strip() else []
        assert {result.object_id for result in found} <= {row[0] for row in ROWS}


def test_documents_are_added_and_deleted(service):
    assert service.add([("e", "Zeppelin", "over the windmill")]) == 1
    assert (len(service), ids(service, "zeppelin")) == (5, ["e"])
    assert service.delete(["e", "e", "nobody"]) == 1
    assert (len(service), ids(service, "zeppelin")) == (4, [])


def test_a_refused_row_takes_the_others_with_it(service):
    for rows in ([("e", "x", "zeppelin"), ("a", "x", "y")], [("e", "x", "zeppelin"), ("f", "x", "half \ud83d")]):
        with pytest.raises(InputError, match="row 2") as caught:
            service.add(rows)
        assert "nothing was added" in caught.value.hint
        assert (len(service), ids(service, "zeppelin")) == (4, [])


def test_a_file_is_for_its_owner_and_survives(tmp_path):
    path = tmp_path / "a ? b#%20.fts"
    before = os.umask(0)
    try:
        with SqliteFts.build(ROWS, path) as service:
            service.add([("e", "Zeppelin", "")])
    finally:
        os.umask(before)
    assert [stat.S_IMODE(found.stat().st_mode) for found in tmp_path.iterdir()] == [0o600]
    with SqliteFts.open(path) as service:
        assert ids(service, "zeppelin windmill") == ["e", "b", "a"]
        assert service.name == f"sqlite:{path}"
    with pytest.raises(ParameterError, match="exists"):
        SqliteFts.build(ROWS, path)


def test_a_build_that_fails_leaves_no_file(tmp_path):
    with pytest.raises(InputError):
        SqliteFts.build([ROWS[0], ROWS[0]], tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(EngineError, match="cannot be written"):
        SqliteFts.build(ROWS, tmp_path / "no" / "x")


def test_missing_and_foreign_files_are_named(tmp_path):
    path = tmp_path / "x"
    with pytest.raises(InputError, match="there is no search index"):
        SqliteFts.open(path)
    assert not path.exists()
    path.write_bytes(b"PK\x03\x04 no database" * 100)
    with pytest.raises(InputError, match="no SQLite file"):
        SqliteFts.open(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="no search index of aidos"):
        SqliteFts.open(path)
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE words (title, text)")
    foreign.commit()
    foreign.close()
    with pytest.raises(InputError, match="no search index of aidos"):
        SqliteFts.open(path)


def test_another_version_is_refused(tmp_path):
    path = tmp_path / "x"
    with SqliteFts.build(ROWS, path):
        pass
    later = sqlite3.connect(path)
    later.execute("PRAGMA user_version = 2")
    later.close()
    with pytest.raises(InputError, match="another version"):
        SqliteFts.open(path)


def test_a_damaged_file_is_an_error_and_never_other_results(tmp_path):
    path = tmp_path / "x"
    rows = [(str(number), "mill", f"word{number} windmill " * 40) for number in range(300)]
    with SqliteFts.build(rows, path) as service:
        whole = ids(service, "windmill", 300)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + bytes(len(content) - 4096))
    with pytest.raises((InputError, ServiceError), match=r"damaged|failed"), SqliteFts.open(path) as service:
        service.search("windmill", 300)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises((InputError, ServiceError), match=r"damaged|failed"), SqliteFts.open(path) as service:
        service.search("windmill", 300)
    path.write_bytes(content)
    with SqliteFts.open(path) as service:
        assert ids(service, "windmill", 300) == whole


def test_a_locked_file_is_said_to_be_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_fts, "SECONDS_TO_WAIT", 0.05)
    path = tmp_path / "x"
    with SqliteFts.build(ROWS, path) as service:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ServiceError, match="locked by another process"):
            service.search("windmill")
        with pytest.raises(ServiceError, match="locked by another process"):
            service.add([("e", "", "")])
        other.close()
        assert ids(service, "windmill") == ["b", "a"]


def test_sqlite_without_full_text_search_is_said(tmp_path, monkeypatch):
    schema = [statement.replace("fts5", "no_such_module") for statement in sqlite_fts.SCHEMA]
    monkeypatch.setattr(sqlite_fts, "SCHEMA", schema)
    with pytest.raises(EngineError, match="FTS5"):
        SqliteFts.build(ROWS, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_closed_or_in_another_thread_is_said(service):
    caught = []

    def search():
        try:
            service.search("windmill")
        except ServiceError as error:
            caught.append(str(error))

    thread = threading.Thread(target=search)
    thread.start()
    thread.join()
    assert "another thread" in caught[0]
    service.close()
    service.close()
    with pytest.raises(ServiceError, match="closed"):
        service.search("windmill")


@pytest.mark.parametrize(
    ("query", "size", "error"), [(" ", 1, InputError), ("a", 0, ParameterError), ("a\0b", 1, InputError)]
)
def test_what_cannot_be_asked_is_refused(service, query, size, error):
    with pytest.raises(error):
        service.search(query, size)
