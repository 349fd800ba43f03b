import itertools
import multiprocessing
import os
import signal
import sqlite3
import stat
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_state import ALL, LOUD, MODELS, arrivals, made, people_of, question_of, state_of
from risk_worlds import ASKED, NAMES, WEEK, models_of

from aidos.errors import EngineError, InputError, ParameterError
from aidos.model.vectors import WordVectors
from aidos.rooms.risk.keeping import RiskStore, read_state
from aidos.rooms.risk.measures import MEASURES
from aidos.rooms.risk.state import RiskState

START = [
    LOUD,
    made("ann", NAMES[0], 0, "p1"),
    made("ann", f"{NAMES[0]} {NAMES[20]}", WEEK, "p2"),
    made("ben", NAMES[13], 0, "p3"),
]
MORE = made("ann", NAMES[10], 2 * WEEK, "p4")


def check_same(mine, other):
    assert sorted(mine.register.ids) == sorted(other.register.ids)
    for name in other.register.ids:
        assert mine.standings(name) == other.standings(name)
        assert mine.register.names(name) == other.register.names(name)
        for measure in ALL:
            assert mine.telling(name, "debt", measure) == other.telling(name, "debt", measure)


@given(start=arrivals(), data=st.data())
@settings(max_examples=6)
def test_what_is_read_back_is_what_was_kept(start, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        with RiskStore.create(path, state_of([LOUD, *start])) as store:
            check_same(read_state(path, MODELS), store.state)
        with RiskStore.open(path, MODELS, topics=ASKED, measures=ALL) as store:
            store.add(people_of(data.draw(arrivals(100))))
            store.replace(people_of(data.draw(arrivals(200, most=1))))
            check_same(read_state(path, MODELS), store.state)
            store.remove(["zoe"])
            assert read_state(path, MODELS).next_entry == store.state.next_entry
            check_same(read_state(path, MODELS), store.state)


def test_only_the_owner_may_read_it(tmp_path):
    before = os.umask(0)
    try:
        with RiskStore.create(tmp_path / "state", state_of(START)) as store:
            store.add(people_of([MORE]))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    files = list((tmp_path / "state").iterdir())
    assert [file.name for file in files] == ["state.sqlite"]
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600]


def test_no_word_of_anybody_is_in_the_file_and_nothing_of_who_was_removed(tmp_path):
    said = made("gertrude", f"{NAMES[0]} unmistakable", 0, "given-name")
    with RiskStore.create(tmp_path / "state", state_of([*START, said])) as store:
        held = (tmp_path / "state" / "state.sqlite").read_bytes()
        assert b"gertrude" in held
        assert b"unmistakable" not in held
        assert NAMES[0].encode() not in held
        store.remove(["gertrude"])
        held = (tmp_path / "state" / "state.sqlite").read_bytes()
        assert b"gertrude" not in held


def test_one_writer_at_a_time_and_readers_beside(tmp_path):
    with RiskStore.create(tmp_path / "state", state_of(START)) as store:
        with pytest.raises(EngineError, match="somebody else is writing to"):
            RiskStore.open(tmp_path / "state", MODELS)
        check_same(read_state(tmp_path / "state", MODELS), store.state)
    with RiskStore.open(tmp_path / "state", MODELS) as store:
        assert len(store.state) == 3


def test_a_state_of_something_else_is_refused_by_name(tmp_path):
    path = tmp_path / "state"
    RiskStore.create(path, state_of(START)).close()
    vectors = WordVectors(words=MODELS.vectors.words, matrix=MODELS.vectors.matrix[::-1])
    cases = {
        "word vectors": {"models": replace(MODELS, vectors=vectors)},
        "topic model": {"models": replace(MODELS, latent=models_of(6).latent)},
        "matching of topics": {"models": replace(MODELS, dimensions={**MODELS.dimensions, "hiv": 5})},
        "words of topics": {"models": replace(MODELS, topics=MODELS.topics.select(MODELS.topics.names[::-1]))},
        "measures": {"models": MODELS, "measures": [MEASURES["bow"]]},
        "topics": {"models": MODELS, "topics": ASKED[:2]},
    }
    for what, given_ in cases.items():
        for opening in (RiskStore.open, read_state):
            with pytest.raises(InputError, match=f"was made with other {what}"):
                opening(path, **given_)
    with RiskStore.open(path, MODELS):
        pass


def test_other_versions_and_other_files_are_refused(tmp_path):
    path = tmp_path / "state"
    RiskStore.create(path, state_of(START)).close()
    for sql, message in (
        ("update facts set value = '99' where name = 'format'", "has format 99, this aidos reads 2"),
        ("update facts set value = 'a cake' where name = 'kind'", "is no risk state"),
    ):
        with sqlite3.connect(path / "state.sqlite") as connection:
            connection.execute(sql)
        connection.close()
        with pytest.raises(InputError, match=message):
            read_state(path, MODELS)
    with pytest.raises(InputError, match="there is no risk state in"):
        read_state(tmp_path, MODELS)
    with pytest.raises(InputError, match="there is no risk state in"):
        RiskStore.open(tmp_path / "nowhere", MODELS)


@pytest.mark.parametrize("column", ["traces", "names"])
def test_damage_is_said(tmp_path, column):
    path = tmp_path / "state"
    RiskStore.create(path, state_of(START)).close()
    with sqlite3.connect(path / "state.sqlite") as connection:
        (kept,) = connection.execute(f"select {column} from people where person = 'ann'").fetchone()
        spoilt = kept[:-3] + bytes([kept[-3] ^ 1]) + kept[-2:]
        connection.execute(f"update people set {column} = ? where person = 'ann'", (spoilt,))
    connection.close()
    with pytest.raises(InputError, match="damaged: what it keeps of people cannot be read"):
        read_state(path, MODELS)
    (path / "state.sqlite").write_bytes(b"not a database at all, but long enough to look like one" * 50)
    with pytest.raises(InputError, match="damaged"):
        read_state(path, MODELS)


def test_a_directory_in_use_is_not_overwritten(tmp_path):
    path = tmp_path / "state"
    RiskStore.create(path, state_of(START)).close()
    with pytest.raises(InputError, match="holds a risk state already"):
        RiskStore.create(path, state_of(START))
    with pytest.raises(InputError, match="holds other files already"):
        RiskStore.create(tmp_path, state_of(START))
    with pytest.raises(InputError, match="is a file, a directory was expected"):
        RiskStore.create(path / "state.sqlite", state_of(START))
    with pytest.raises(InputError, match="the directory of"):
        RiskStore.create(tmp_path / "not" / "there", state_of(START))


def test_what_is_refused_changes_nothing(tmp_path):
    with RiskStore.create(tmp_path / "state", state_of(START)) as store:
        with pytest.raises(ParameterError, match="nobody has that name"):
            store.remove(["ann", "stranger"])
        assert "ann" in store.state.register
        check_same(read_state(tmp_path / "state", MODELS), store.state)
        store.add(people_of([MORE]))
        check_same(read_state(tmp_path / "state", MODELS), store.state)


def test_a_change_that_cannot_be_written_is_not_made(tmp_path):
    path = tmp_path / "state"
    with RiskStore.create(path, state_of(START)) as store:
        before = read_state(path, MODELS)
        store._connection.execute("pragma max_page_count = 1")
        with pytest.raises(EngineError, match="cannot be used"):
            store.add(people_of([made(f"new{at}", " ".join(NAMES), at, f"q{at}") for at in range(400)]))
        with pytest.raises(EngineError, match="the last change to"):
            store.state.standings("ann")
    check_same(read_state(path, MODELS), before)


def keep_adding(path, told):
    """What a child does until it is killed: two entries a change, and it tells every change that is done."""
    store = RiskStore.open(path, MODELS) if path.exists() else RiskStore.create(path, state_of(START))
    for at in itertools.count(1):
        more = [made("ann", "word10 word0 word13", at, f"new {at}"), made("ben", "word1", at, f"more {at}")]
        store.add(people_of(more))
        os.write(told, b".")


def test_killed_in_the_middle_it_is_before_or_after_a_change(tmp_path):
    path, before = tmp_path / "state", len(START)
    state_of(START)  # compiles everything before the children begin
    for moment in range(8):
        listening, told = os.pipe()
        child = multiprocessing.get_context("fork").Process(target=keep_adding, args=(path, told))
        child.start()
        os.close(told)
        done = len(os.read(listening, 1))
        time.sleep(moment * 0.003)
        os.kill(child.pid, signal.SIGKILL)
        while more := os.read(listening, 1000):
            done += len(more)
        os.close(listening)
        child.join()
        assert child.exitcode == -signal.SIGKILL
        state = read_state(path, MODELS)
        # All changes that were told are there, and at most one that was not told yet.
        assert state.next_entry - before in {2 * done, 2 * done + 2}
        assert sorted(state.register.ids) == ["ann", "ben", "zoe"]
        before = state.next_entry
    with RiskStore.open(path, MODELS) as store:
        store.add(people_of([MORE]))
        check_same(read_state(path, MODELS), store.state)


def make_and_die(path):
    Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    RiskStore.create(path, state_of(START))


def test_killed_while_it_is_made_there_is_none_and_it_can_be_made(tmp_path):
    path = tmp_path / "state"
    child = multiprocessing.get_context("fork").Process(target=make_and_die, args=(path,))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    (left,) = path.iterdir()
    assert left.name.endswith(".partial")
    with pytest.raises(InputError, match="there is no risk state"):
        read_state(path, MODELS)
    with RiskStore.create(path, state_of(START)) as store:
        check_same(read_state(path, MODELS), store.state)
    assert [file.name for file in path.iterdir()] == ["state.sqlite"]


def test_any_subset_of_measures_can_be_kept(tmp_path):
    for at, name in enumerate(MEASURES):
        state = RiskState.of(question_of(START), [MEASURES[name]])
        RiskStore.create(tmp_path / str(at), state).close()
        back = read_state(tmp_path / str(at), MODELS, measures=[MEASURES[name]])
        np.testing.assert_array_equal(back.ordered("hiv", MEASURES[name]), state.ordered("hiv", MEASURES[name]))
