"""The store with real files, real processes, real kills and real damage."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_serving import HALF_LIFE, SETTINGS, in_memory, opened, question, serve, state, state_of

from aidos.errors import EngineError, InputError, ParameterError
from aidos.rooms.fairness import keeper as store
from aidos.rooms.fairness.accounts import Keeper, MemoryKeeper, Served
from aidos.rooms.fairness.keeper import StoreKeeper, store_facts
from aidos.rooms.fairness.storetables import decode, encode

SERVING = Path(__file__).with_name("store_serving.py")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "attention.db"


@pytest.fixture
def often_folded(monkeypatch):
    monkeypatch.setattr(store, "RANKINGS_BEFORE_FOLDING", 5)


def child(*arguments, **variables):
    return subprocess.Popen(
        [sys.executable, SERVING, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | variables,
    )


def finished(process, seconds=60):
    out, _ = process.communicate(timeout=seconds)
    assert process.returncode == 0
    return out


def test_it_keeps_what_memory_keeps_through_openings_and_foldings(path, often_folded):
    expected = MemoryKeeper(half_life=HALF_LIFE)
    for number in range(23):
        with opened(path) as keeper:
            one: Keeper = keeper
            assert serve(one, number) == serve(expected, number)
            assert state_of(keeper) == state(expected.accounts)
    with sqlite3.connect(path) as plain:
        assert plain.execute("select count(*) from journal").fetchone() == (3,)
        assert plain.execute("select count(*) from answers").fetchone() == (23,)
    plain.close()


@st.composite
def rankings(draw):
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "dé", "e\0f", "", "h" * 300]), min_size=1, max_size=7))
    raw = np.array(draw(st.lists(st.floats(1e-6, 1), min_size=len(names), max_size=len(names))))
    placed = draw(st.permutations(range(len(names))))[:2]
    return names, raw / raw.sum(), placed, draw(st.sampled_from(["", "s", "t"])), draw(st.floats(0, 1))


def as_served(accounts, ranking, ranking_id=""):
    names, relevance, placed, searcher, quality = ranking
    return Served(
        ranking_id=ranking_id,
        content="c",
        slots=accounts.slots(names),
        relevance=relevance,
        placed=np.array(placed),
        attention=np.array([1.0]) if len(placed) == 1 else np.array([0.7, 0.3]),
        placed_ids=tuple(names[index] for index in placed),
        searcher_id=searcher,
        quality=quality,
    )


steps = st.lists(
    st.tuples(st.sampled_from(["count", "count", "count", "fail", "reopen", "two in one turn"]), rankings()),
    max_size=15,
)


@settings(max_examples=40)
@given(steps, st.none() | st.floats(0.01, 30), st.integers(1, 6), st.randoms(use_true_random=False))
def test_any_history_in_two_keepers_equals_memory_bit_for_bit(steps, half_life, fold_after, chance):
    expected = MemoryKeeper(half_life=half_life)
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "RANKINGS_BEFORE_FOLDING", fold_after)
        path = Path(place) / "store.db"
        keepers = [StoreKeeper.open(path, settings={}, half_life=half_life) for _ in range(2)]
        for number, (what, ranking) in enumerate(steps):
            which = chance.randrange(2)
            if what == "reopen":
                keepers[which].close()
                keepers[which] = StoreKeeper.open(path, settings={}, half_life=half_life)
            elif what == "fail":
                with pytest.raises(KeyboardInterrupt), keepers[which].turn() as accounts:
                    keepers[which].record(as_served(accounts, ranking))
                    accounts.slots(["never seen again"])
                    raise KeyboardInterrupt
            else:
                for keeper in (keepers[which], expected):
                    with keeper.turn() as accounts:
                        for part in range(1 + (what != "count")):
                            keeper.record(as_served(accounts, ranking, f"{number}.{part}"))
            assert state_of(keepers[which]) == state(expected.accounts)
        for number in range(len(steps)):
            with keepers[0].turn():
                assert keepers[0].answer(f"{number}.0") == expected.answer(f"{number}.0")
        for keeper in keepers:
            keeper.close()


def test_killed_before_any_statement_every_ranking_counts_once(path):
    moments = int(finished(child("kill", path, 6)))
    assert moments > 40


def test_killed_at_random_moments_and_started_again_it_ends_as_if_nothing_had_happened(path):
    chance, kills, count = random.Random(4), 0, 250
    for _ in range(60):
        process = child("serve", path, "r", count)
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        if kills == 10 or process.returncode == 0:
            break
    out = finished(child("serve", path, "r", count)).splitlines()
    assert len(out) == count + 1
    with opened(path) as keeper:
        expected = in_memory(range(count))
        assert state_of(keeper) == state(expected.accounts)
        assert [serve(keeper, number)[0] for number in range(count)] == [expected.answer(f"r{n}") for n in range(count)]
    assert kills >= 3


def test_three_processes_take_turns_and_each_ranking_counts_once(path):
    start = path.with_name("start")
    processes = [child("serve", path, prefix, 60, FOLD_AFTER="7", START=str(start)) for prefix in ("x", "y", "z")]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 3
    start.touch()
    told = [line.split() for process in processes for line in finished(process).splitlines() if line != "ready"]
    order = sorted((int(place), prefix, int(number)) for place, prefix, number in told)
    assert [place for place, _, _ in order] == list(range(1, 181))
    assert [prefix for _, prefix, _ in order] != sorted(prefix for _, prefix, _ in order)
    serial = MemoryKeeper(half_life=HALF_LIFE)
    for _, prefix, number in order:
        serve(serial, number, prefix)
    with opened(path) as keeper:
        assert state_of(keeper) == state(serial.accounts)
        for _, prefix, number in order:
            assert serve(keeper, number, prefix)[0] == serial.answer(f"{prefix}{number}")


def test_threads_may_share_a_keeper(path, often_folded):
    with opened(path) as keeper:
        threads = [
            Thread(target=lambda prefix=prefix: [serve(keeper, number, prefix) for number in range(20)])
            for prefix in "abc"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert state_of(keeper)[5] == 60


def test_a_file_that_may_not_grow_ends_in_a_clear_error_and_an_intact_store(path):
    out = finished(child("fill", path, 300_000, FOLD_AFTER="1000000"))
    served, _, words = out.partition(" ")
    assert "the disk is full" in words
    assert "nothing was counted" in words
    with opened(path) as keeper:
        assert state_of(keeper) == state(in_memory(range(int(served))).accounts)
        serve(keeper, int(served))
        assert state_of(keeper) == state(in_memory(range(int(served) + 1)).accounts)


def test_a_full_database_takes_the_ranking_back_and_goes_on_when_there_is_room(path):
    with opened(path) as keeper:
        (pages,) = keeper._connection.execute("pragma page_count").fetchone()
        keeper._connection.execute(f"pragma max_page_count = {pages + 5}")
        served = 0
        with pytest.raises(EngineError, match="the disk is full") as caught:
            while served < 1000:
                serve(keeper, served)
                served += 1
        assert "nothing was counted" in caught.value.hint
        assert state_of(keeper) == state(in_memory(range(served)).accounts)
        keeper._connection.execute("pragma max_page_count = 1000000")
        serve(keeper, served)
        assert state_of(keeper) == state(in_memory(range(served + 1)).accounts)


def test_an_error_takes_back_accounts_and_rankings_of_the_turn(path):
    with opened(path) as keeper:
        serve(keeper, 0)
        before = state_of(keeper)
        with pytest.raises(ZeroDivisionError), keeper.turn() as accounts:
            keeper.record(question(accounts, 1, "r1"))
            assert accounts.rankings == 2
            raise ZeroDivisionError
        with pytest.raises(ZeroDivisionError), keeper.turn() as accounts:
            accounts.slots(["opened for nothing"])
            raise ZeroDivisionError
        assert state_of(keeper) == before
        assert serve(keeper, 1) == serve(in_memory([0]), 1)


def test_a_ranking_that_failed_to_be_recorded_fails_the_turn_even_when_the_error_is_swallowed(path):
    with opened(path) as keeper:
        serve(keeper, 0)
        with pytest.raises(RuntimeError, match="could not be recorded"), keeper.turn() as accounts:
            keeper.record(question(accounts, 1, "r1"))
            with pytest.raises(RuntimeError, match="counted before"):
                keeper.record(question(accounts, 2, "r1"))
        assert state_of(keeper) == state(in_memory([0]).accounts)


def test_accounts_opened_in_a_turn_without_a_ranking_last(path):
    with opened(path) as keeper, keeper.turn() as accounts:
        accounts.slots(["a", "b"])
    with opened(path) as keeper, keeper.turn() as accounts:
        assert accounts.names == ["a", "b"]
        assert accounts.rankings == 0


def test_a_name_that_cannot_be_written_is_refused_and_nothing_counted(path):
    with opened(path) as keeper:
        with pytest.raises(InputError, match="half of a character"), keeper.turn() as accounts:
            accounts.slots(["\ud800"])
        assert state_of(keeper)[0] == []


def test_misuse_is_refused(path):
    with opened(path) as keeper:
        with pytest.raises(RuntimeError, match="within a turn"):
            keeper.answer("r")
        with keeper.turn() as accounts:
            ranking = question(accounts, 0, "r0")
            with pytest.raises(RuntimeError, match="under way"), keeper.turn():
                pass
        with pytest.raises(RuntimeError, match="within a turn"):
            keeper.record(ranking)
        keeper._process += 1
        with pytest.raises(RuntimeError, match="open it again in each process"), keeper.turn():
            pass
        keeper._process -= 1
        path.rename(path.with_name("moved.db"))
        with pytest.raises(EngineError, match="moved, deleted or replaced"), keeper.turn():
            pass


def test_a_relative_name_is_meant_from_where_the_process_was(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with opened(Path(path.name)) as keeper:
        monkeypatch.chdir("/")
        serve(keeper, 0)
    with opened(path) as keeper:
        assert state_of(keeper) == state(in_memory([0]).accounts)


def test_a_held_store_says_so_when_patience_ends(path):
    with opened(path) as one, opened(path, wait=0.05) as other:
        with one.turn(), pytest.raises(EngineError, match="another re-ranker holds the store"), other.turn():
            pass
        serve(other, 0)
        assert state_of(one) == state(in_memory([0]).accounts)


def test_only_the_owner_may_read_it(path):
    before = os.umask(0)
    try:
        with opened(path) as keeper:
            serve(keeper, 0)
            files = sorted(path.parent.iterdir())
            assert [file.name for file in files] == ["attention.db", "attention.db-shm", "attention.db-wal"]
            assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    finally:
        os.umask(before)
    assert [file.name for file in path.parent.iterdir()] == ["attention.db"]


def test_other_settings_are_refused_by_name(path):
    opened(path).close()
    asked = SETTINGS | {"attention": "dcg:positions=10", "extra": "1"}
    with pytest.raises(ParameterError) as caught:
        StoreKeeper.open(path, settings=asked, half_life=HALF_LIFE)
    assert "attention is geometric:share=0.5,positions=3 in the store, dcg:positions=10 was asked" in str(caught.value)
    assert "extra is not set in the store, 1 was asked" in str(caught.value)
    assert "level" not in str(caught.value)
    assert "new store" in caught.value.hint
    with pytest.raises(ParameterError, match=r"half_life is 9\.0 in the store, not set was asked"):
        StoreKeeper.open(path, settings=SETTINGS)


@pytest.mark.parametrize("half_life", [0.0, -3.0, float("nan")])
def test_an_impossible_half_life_makes_no_file(path, half_life):
    with pytest.raises(ParameterError):
        StoreKeeper.open(path, settings={}, half_life=half_life)
    assert not path.exists()


def foreign(path):
    with sqlite3.connect(path) as plain:
        plain.execute("create table facts (name, value)")
    plain.close()


def newer(path):
    opened(path).close()
    with sqlite3.connect(path) as plain:
        plain.execute("pragma user_version = 99")
    plain.close()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_text("subject_id,attention\n" * 100), "is not a store"),
        (lambda path: path.write_bytes(b""), "is not a store"),
        (foreign, "is not a store"),
        (newer, "newer aidos"),
        (lambda path: path.mkdir(), "is no file"),
    ],
)
def test_what_is_no_store_is_refused_and_left_alone(path, make, words):
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    for attempt in (lambda: opened(path), lambda: store_facts(path)):
        with pytest.raises(InputError, match=words):
            attempt()
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_store_that_must_exist_and_a_directory_that_must_exist(path):
    with pytest.raises(InputError, match="there is no store"):
        opened(path, create=False)
    with pytest.raises(ParameterError, match=r"directory of .* does not exist"):
        opened(path.parent / "nowhere" / "store.db")
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        "delete from journal where sequence = 8",
        "update journal set payload = substr(payload, 1, 40) where sequence = 8",
        "update journal set payload = zeroblob(2) where sequence = 8",
        "update journal set payload = x'01000000' || x'00000000' || x'ffffff00' || zeroblob(8) where sequence = 8",
        "delete from subjects where slot = 3",
        "update subjects set name = (select name from subjects where slot = 1) where slot = 2",
        "update balances set received = substr(received, 1, 13)",
        "update balances set page = 4",
        "update balances set earned = x'000000000000f8ff'",
        "delete from state",
        "drop table journal",
    ],
)
def test_contents_that_cannot_be_are_refused_as_damage(path, often_folded, damage):
    with opened(path) as keeper:
        for number in range(9):
            serve(keeper, number)
    with sqlite3.connect(path) as plain:
        plain.execute(damage)
    plain.close()
    with pytest.raises(InputError, match="is damaged"):
        opened(path)


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_file_cut_short_is_refused_as_damage(path, part):
    with opened(path) as keeper:
        for number in range(300):
            serve(keeper, number)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(InputError, match="is damaged"), opened(path) as keeper:
        for number in range(300):
            serve(keeper, number)


def test_facts_for_people_do_not_change_the_store(path, often_folded):
    with opened(path) as keeper:
        for number in range(8):
            serve(keeper, number)
        facts = store_facts(path)
        assert state_of(keeper) == state(in_memory(range(8)).accounts)
    expected = in_memory(range(8)).accounts
    assert facts["settings"] == SETTINGS
    assert (facts["rankings"], facts["subjects"], facts["searchers"]) == (8, len(expected), 3)
    assert (facts["unfairness"], facts["half_life"], facts["format"]) == (expected.unfairness, HALF_LIFE, 1)


@given(rankings())
def test_a_journal_row_gives_back_what_was_counted(ranking):
    keeper = MemoryKeeper()
    before = as_served(keeper.accounts, ranking)
    after = decode(encode(before), searcher="s", quality=0.5)
    for field in ("slots", "relevance", "placed", "attention"):
        assert getattr(after, field).tobytes() == getattr(before, field).tobytes()
