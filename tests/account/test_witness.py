"""Older copies, cut files and other histories are refused; crashes and full disks lose nothing."""

import os
import shutil
from pathlib import Path

import pytest

from aidos.account.budget import Budget
from aidos.account.ledger import FileLedger
from aidos.account.lineage import DataSet
from aidos.account.opening import open_ledger
from aidos.account.witness import registry_in
from aidos.core.guarantee import ApproxDP
from aidos.errors import EngineError, InputError, ParameterError

TENTH = ApproxDP(epsilon=0.1, delta=1e-7)


@pytest.fixture
def data(tmp_path):
    (tmp_path / "log.tsv").write_text("the data\n")
    return DataSet((tmp_path / "log.tsv",))


@pytest.fixture
def ledger(tmp_path, data):
    return open_ledger(tmp_path / "log.ledger", Budget(epsilon=1, delta=1e-6), data)


def actions(ledger):
    yield lambda: ledger.charge(TENTH)
    yield ledger.close
    yield ledger.witnessed


def test_an_older_copy_is_refused(ledger, tmp_path):
    ledger.charge(TENTH)
    shutil.copy(ledger.path, tmp_path / "backup")
    ledger.charge(TENTH)
    newest = ledger.path.read_bytes()
    shutil.copy(tmp_path / "backup", ledger.path)
    for action in actions(ledger):
        with pytest.raises(InputError, match="older copy") as caught:
            action()
    assert "newest copy" in caught.value.hint
    assert ledger.path.read_bytes() == (tmp_path / "backup").read_bytes()
    ledger.path.write_bytes(newest)
    ledger.charge(TENTH)
    assert len(ledger.state().charges) == 3


def test_a_file_cut_at_a_line_end_is_refused(ledger):
    for _ in range(3):
        ledger.charge(TENTH)
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    for kept in (1, 2, 3):
        ledger.path.write_bytes(b"".join(lines[:kept]))
        with pytest.raises(InputError, match="older copy"):
            ledger.charge(TENTH)


def test_of_two_copies_that_went_on_one_is_refused(ledger, tmp_path):
    ledger.charge(TENTH)
    shutil.copy(ledger.path, tmp_path / "copy")
    twin = FileLedger(tmp_path / "copy")
    ledger.charge(TENTH)
    with pytest.raises(InputError, match="older copy"):
        twin.charge(TENTH)
    with registry_in(tmp_path / "elsewhere"):
        twin.charge(ApproxDP(epsilon=0.2, delta=1e-7))  # another machine cannot know
        twin.charge(TENTH)
    with pytest.raises(InputError, match="another history"):
        twin.charge(TENTH)


def test_a_ledger_may_move(ledger, tmp_path):
    ledger.charge(TENTH)
    moved = FileLedger(ledger.path.rename(tmp_path / "moved"))
    moved.charge(TENTH)
    with registry_in(tmp_path / "another machine"):
        assert "none" in moved.witnessed()[0]
        moved.charge(TENTH)
        assert "line 4" in moved.witnessed()[0]
    moved.charge(TENTH)  # the first witness is behind, and its line is in the chain
    assert "line 5" in moved.witnessed()[0]


def test_a_second_witness_is_asked_too(tmp_path, data):
    disk = tmp_path / "disk"
    disk.mkdir()
    ledger = open_ledger(tmp_path / "l", Budget(epsilon=1, delta=1e-6), data, witness=disk)
    older = ledger.path.read_bytes()
    ledger.charge(TENTH)
    shutil.rmtree(os.environ["AIDOS_REGISTRY"])
    ledger.path.write_bytes(older)
    with pytest.raises(InputError, match="older copy"):
        ledger.charge(TENTH)
    disk.rename(tmp_path / "taken away")
    with pytest.raises(InputError, match="not there"):
        ledger.charge(TENTH)


def test_no_witness_takes_the_place_of_another_or_of_any_file(tmp_path, data):
    first = open_ledger(tmp_path / "one.ledger", Budget(epsilon=1, delta=1e-6), data, witness=tmp_path / "seen")
    (tmp_path / "next.tsv").write_text("other data\n")
    others = DataSet((tmp_path / "next.tsv",))
    for taken in (tmp_path / "seen", tmp_path / "log.tsv"):
        before = taken.read_bytes()
        with pytest.raises(ParameterError, match="exists"):
            open_ledger(tmp_path / "two.ledger", Budget(epsilon=1, delta=1e-6), others, witness=taken)
        assert taken.read_bytes() == before
        assert not (tmp_path / "two.ledger").exists()
    first.charge(TENTH)


def test_a_witness_of_another_ledger_does_not_stand_for_ones_own(tmp_path, data):
    ledger = open_ledger(tmp_path / "one.ledger", Budget(epsilon=1, delta=1e-6), data, witness=tmp_path / "seen")
    (tmp_path / "next.tsv").write_text("other data\n")
    others = DataSet((tmp_path / "next.tsv",))
    open_ledger(tmp_path / "two.ledger", Budget(epsilon=1, delta=1e-6), others, witness=tmp_path / "copied")
    shutil.copy(tmp_path / "copied", tmp_path / "seen")
    for action in actions(ledger):
        with pytest.raises(InputError, match="of another ledger"):
            action()


def test_a_full_disk_under_a_witness_charges_nothing(ledger, monkeypatch):
    ledger.charge(TENTH)
    before, write = ledger.path.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda file, payload: write(file, payload[:10]))
    with pytest.raises(EngineError, match="witness"):
        ledger.charge(TENTH)
    monkeypatch.undo()
    assert ledger.path.read_bytes() == before
    ledger.charge(TENTH)
    assert len(ledger.state().charges) == 2


def test_a_full_disk_under_the_ledger_leaves_the_witness_behind_it(ledger, monkeypatch):
    ledger.charge(TENTH)
    write, calls = os.write, []

    def second_fails(file, payload):
        calls.append(file)
        return write(file, payload[:10] if len(calls) == 2 else payload)

    monkeypatch.setattr(os, "write", second_fails)
    with pytest.raises(EngineError, match="disk is full"):
        ledger.charge(TENTH)
    monkeypatch.undo()
    assert "line 2" in ledger.witnessed()[0]
    ledger.charge(TENTH)
    assert "line 3" in ledger.witnessed()[0]


def test_a_damaged_witness_is_said(ledger):
    (witness,) = Path(os.environ["AIDOS_REGISTRY"]).glob("*.witness")
    assert witness.stat().st_mode & 0o077 == 0
    assert "key" not in witness.read_text()
    witness.write_text("{")
    with pytest.raises(InputError, match="no witness"):
        ledger.charge(TENTH)
