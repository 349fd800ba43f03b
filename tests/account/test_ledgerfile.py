"""The ledger file with real processes, real kills and real damage."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.account.budget import Accountant, Budget
from aidos.account.composition import discrete_gaussian_part
from aidos.account.ledger import Ledger
from aidos.account.ledgerfile import FileLedger, find_ledger, fingerprint_files, open_ledger
from aidos.account.ledgerstate import read_state
from aidos.account.thresholds import count_gaussian
from aidos.core.guarantee import (
    ApproxDP,
    KAnonymity,
    Neighbours,
    NoGuarantee,
    ProbabilisticDP,
    PureDP,
    QualityFloor,
    Unit,
    ZeroConcentratedDP,
)
from aidos.errors import BudgetError, EngineError, InputError, ParameterError

TENTH = ApproxDP(epsilon=0.1, delta=1e-7)


def opened(place, budget=None, fingerprint="the data"):
    return open_ledger(place, budget or Budget(epsilon=1, delta=1e-6), fingerprint=fingerprint)


@pytest.fixture
def ledger(tmp_path):
    return opened(tmp_path / "log.ledger")


def run_child(script, *arguments):
    code = "import os, signal, sys\nfrom pathlib import Path\n" + textwrap.dedent(script)
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def test_it_is_a_ledger_and_charges_add_up(ledger):
    one: Ledger = ledger
    for _ in range(10):
        one.charge(TENTH)
    assert one.spent() == (pytest.approx(1), pytest.approx(1e-6))
    with pytest.raises(BudgetError) as caught:
        one.charge(PureDP(epsilon=0.01))
    assert caught.value.asked == (0.01, 0)
    assert len(ledger.state().charges) == 10


def test_a_refused_charge_writes_nothing(ledger):
    before = ledger.path.read_bytes()
    for refused in (PureDP(epsilon=2), NoGuarantee("a seed"), KAnonymity(k=3)):
        with pytest.raises(BudgetError):
            ledger.charge(refused)
    with pytest.raises(ParameterError):
        ledger.charge(PureDP(epsilon=0.1, neighbours=Neighbours.REPLACE_ONE))
    assert ledger.path.read_bytes() == before


def test_everything_survives_the_process(tmp_path):
    budget = Budget(epsilon=2, delta=1e-3, unit=Unit("session", "session_id"), neighbours=Neighbours.REPLACE_ONE)
    spends = [
        ProbabilisticDP(epsilon=0.5, delta=1e-4, unit=budget.unit),
        PureDP(epsilon=0.1, unit=budget.unit, neighbours=Neighbours.REPLACE_ONE),
        ApproxDP(epsilon=0.2, delta=1e-5, unit=budget.unit, neighbours=Neighbours.REPLACE_ONE),
        ZeroConcentratedDP(rho=0.001, unit=budget.unit, neighbours=Neighbours.REPLACE_ONE),
        QualityFloor(measure="nDCG", at_least=0.9),
    ]
    written = opened(tmp_path / "x", budget)
    for spend in spends:
        written.charge(spend)
    again = FileLedger(written.path, fingerprint="the data")
    assert again.state().budget == budget
    assert [spend.guarantee for spend in again.state().spends] == spends
    assert again.spent() == written.spent()


def test_outcomes_are_remarks_and_give_nothing_back(ledger):
    first = ledger.book(TENTH, about="queries")
    second = ledger.book(TENTH)
    third = ledger.book(TENTH)
    ledger.settle(first, "published")
    ledger.settle(second, "abandoned")
    assert [charge.outcome for charge in ledger.state().charges] == ["published", "abandoned", "unknown"]
    assert ledger.state().charges[0].about == "queries"
    assert ledger.spent()[0] == pytest.approx(0.3)
    for number, outcome in ((first, "published"), (99, "published"), (third, "refunded")):
        with pytest.raises(ParameterError):
            ledger.settle(number, outcome)


def test_a_closed_ledger_takes_no_charge(ledger):
    ledger.charge(TENTH)
    ledger.close()
    ledger.close()
    with pytest.raises(BudgetError, match="closed"):
        ledger.charge(TENTH)
    assert ledger.spent()[0] == pytest.approx(0.1)


def test_the_gaussian_accountant_uses_gaussian_parts(tmp_path):
    found = count_gaussian(0.1, 2e-8, 10)
    part = discrete_gaussian_part(sigma=found.scale, sensitivity=sqrt(10), delta=1e-8)
    tight = opened(tmp_path / "tight", Budget(epsilon=1, delta=1e-6, accountant=Accountant.GAUSSIAN))
    for _ in range(20):
        tight.book(ApproxDP(epsilon=0.1, delta=2e-8), gaussian=part)
    assert tight.spent()[0] < 1
    with pytest.raises(BudgetError):
        for _ in range(200):
            tight.book(ApproxDP(epsilon=0.1, delta=2e-8), gaussian=part)


def test_in_a_directory_the_name_is_a_keyed_hash_and_tells_nothing(tmp_path):
    ledger = opened(tmp_path, fingerprint="f1")
    header = json.loads(ledger.path.read_text())
    assert ledger.path.stem == header["data"][:32]
    (tmp_path / "elsewhere").mkdir()
    assert opened(tmp_path / "elsewhere", fingerprint="f1").path.name != ledger.path.name
    assert find_ledger(tmp_path, "f1") == ledger.path
    assert find_ledger(tmp_path, "f2") is None
    with pytest.raises(ParameterError, match="already"):
        opened(tmp_path, fingerprint="f1")
    opened(tmp_path, fingerprint="f2")


def test_only_its_owner_can_read_it(ledger):
    assert ledger.path.stat().st_mode & 0o777 == 0o600
    ledger.path.chmod(0o644)
    with pytest.raises(InputError, match="others"):
        ledger.charge(TENTH)


def test_files_are_known_by_their_bytes(tmp_path):
    a, b, c = (tmp_path / name for name in "abc")
    a.write_bytes(b"1" * 100_000)
    b.write_bytes(b"2")
    c.write_bytes(b"1" * 100_000)
    assert fingerprint_files([a, b]) == fingerprint_files([b, c])
    assert fingerprint_files([a]) != fingerprint_files([a, c])
    with pytest.raises(InputError):
        fingerprint_files([tmp_path / "none"])


@pytest.mark.parametrize(
    ("contents", "words"),
    [(b"", "no ledger"), (b"AnonID\tQuery\n", "no ledger"), (b'{"line":1}\n', "no ledger"), (b"[1]\n", "no ledger")],
)
def test_foreign_files_are_refused_and_left_alone(tmp_path, contents, words):
    path = tmp_path / "x.ledger"
    path.write_bytes(contents)
    with pytest.raises(InputError, match=words):
        FileLedger(path)
    assert path.read_bytes() == contents


def test_missing_ledgers_directories_and_ledgers_of_other_data_are_refused(tmp_path, ledger):
    with pytest.raises(InputError, match="there is no ledger"):
        FileLedger(tmp_path / "none.ledger")
    with pytest.raises(InputError, match="no file"):
        FileLedger(tmp_path)
    with pytest.raises(InputError, match="another data set"):
        FileLedger(ledger.path, fingerprint="other data")
    with pytest.raises(ParameterError, match="exists"):
        opened(ledger.path, fingerprint="more data")
    with pytest.raises(ParameterError, match="does not exist"):
        opened(tmp_path / "no" / "such")


def test_any_altered_byte_is_noticed(ledger):
    for number in range(3):
        ledger.settle(ledger.book(TENTH, about=f"release {number}"), "published")
    whole = ledger.path.read_bytes()
    spent = ledger.spent()
    for position in range(0, len(whole), 7):
        altered = bytearray(whole)
        altered[position] ^= 0x01
        try:
            state = read_state(ledger.path, bytes(altered))
        except InputError:
            continue
        # Only a last line that is not whole any more counts as cut short; and that gives nothing back.
        assert position >= whole.rstrip(b"\n").rfind(b"\n")
        assert state.spent()[0] >= spent[0]


def test_removed_doubled_and_swapped_lines_are_noticed(ledger):
    for _ in range(3):
        ledger.charge(TENTH)
    header, *lines = ledger.path.read_bytes().splitlines(keepends=True)
    for wrong in (lines[1:], [lines[0], lines[0], *lines[1:]], [lines[1], lines[0], lines[2]]):
        with pytest.raises(InputError, match="damaged"):
            read_state(ledger.path, b"".join([header, *wrong]))


def test_a_lost_newline_loses_nothing(ledger):
    ledger.charge(TENTH)
    os.truncate(ledger.path, ledger.path.stat().st_size - 1)
    assert ledger.spent()[0] == pytest.approx(0.1)
    ledger.settle(ledger.book(TENTH), "published")
    assert FileLedger(ledger.path).spent()[0] == pytest.approx(0.2)


def test_a_second_crash_at_any_byte_of_the_mark_loses_nothing(ledger):
    ledger.charge(TENTH)
    first = ledger.path.stat().st_size
    ledger.charge(ApproxDP(epsilon=0.3, delta=1e-7))
    os.truncate(ledger.path, first + 40)
    ledger.close()
    marked = ledger.path.read_bytes()
    for size in range(first + 40, len(marked) + 1):
        ledger.path.write_bytes(marked[:size])
        assert ledger.spent()[0] == pytest.approx(1.0)
        ledger.close()
        assert FileLedger(ledger.path).state().closed


@given(cut=st.integers(1, 10_000), second_cut=st.integers(0, 200))
@settings(max_examples=60, deadline=None)
def test_a_last_line_cut_anywhere_counts_as_spent(tmp_path_factory, cut, second_cut):
    place = tmp_path_factory.mktemp("torn")
    ledger = opened(place / "x")
    ledger.charge(TENTH)
    before = len(ledger.path.read_bytes())
    ledger.charge(ApproxDP(epsilon=0.3, delta=1e-7))
    whole = ledger.path.read_bytes()
    keep = before + 1 + cut % (len(whole) - before - 1)
    os.truncate(ledger.path, keep)
    readable = '"neighbours":"add-or-remove-one"}' in whole[before:keep].decode()
    expected = 0.4 if readable else 1.0
    assert ledger.spent()[0] == pytest.approx(expected)
    if readable:
        ledger.charge(TENTH)  # the next writer marks the torn line, and life goes on
        assert ledger.spent()[0] == pytest.approx(0.5)
        ledger.settle(ledger.book(TENTH), "published")
        assert FileLedger(ledger.path).spent()[0] == pytest.approx(0.6)
    else:
        with pytest.raises(BudgetError, match="cut a charge short"):
            ledger.charge(TENTH)
        ledger.close()
        assert ledger.state().closed
    # A second crash, in the middle of marking the first.
    os.truncate(ledger.path, min(keep + second_cut, ledger.path.stat().st_size))
    assert ledger.spent()[0] >= expected - 1e-9
    ledger.close()
    assert FileLedger(ledger.path).spent()[0] >= expected - 1e-9


def test_a_full_disk_charges_nothing_and_leaves_the_file_whole(ledger, monkeypatch):
    ledger.charge(TENTH)
    before = ledger.path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, payload: write(descriptor, payload[: len(payload) // 2]))
    with pytest.raises(EngineError, match="disk is full"):
        ledger.charge(TENTH)
    monkeypatch.undo()
    assert ledger.path.read_bytes() == before
    ledger.charge(TENTH)
    assert ledger.spent()[0] == pytest.approx(0.2)


def test_processes_cannot_spend_the_same_budget(ledger):
    script = """
        from aidos.account.ledgerfile import FileLedger
        from aidos.core.guarantee import ApproxDP
        from aidos.errors import BudgetError
        ledger, accepted = FileLedger(Path(sys.argv[1])), 0
        for _ in range(12):
            try:
                ledger.charge(ApproxDP(epsilon=0.04, delta=1e-9))
                accepted += 1
            except BudgetError:
                pass
        print(accepted)
    """
    children = [run_child(script, ledger.path) for _ in range(4)]
    accepted = [int(child.communicate(timeout=60)[0]) for child in children]
    assert all(child.returncode == 0 for child in children)
    assert sum(accepted) == 25
    assert len(ledger.state().charges) == 25
    assert ledger.spent()[0] == pytest.approx(1)


STEPS = {
    # where the process dies: (patch, charges on file afterwards, epsilon spent afterwards)
    "before the write": ("os.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)", 0.0),
    "in the middle of the write, after the cost": (
        "write = os.write\nos.write = lambda d, p: (write(d, p[:250]), os.kill(os.getpid(), signal.SIGKILL))",
        0.4,
    ),
    "in the middle of the write, before the cost": (
        "write = os.write\nos.write = lambda d, p: (write(d, p[:30]), os.kill(os.getpid(), signal.SIGKILL))",
        1.0,
    ),
    "between write and flush": ("os.fsync = lambda *_: os.kill(os.getpid(), signal.SIGKILL)", 0.4),
    "after the flush": (
        "fsync = os.fsync\nos.fsync = lambda d: (fsync(d), os.kill(os.getpid(), signal.SIGKILL))",
        0.4,
    ),
    "between charge and publication": ("", 0.4),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_never_gives_budget_back(ledger, step):
    patch, expected = STEPS[step]
    script = f"""
from aidos.account.ledgerfile import FileLedger
from aidos.core.guarantee import ApproxDP
ledger = FileLedger(Path(sys.argv[1]))
{patch}
number = ledger.book(ApproxDP(epsilon=0.4, delta=1e-7), about="queries")
print("charged", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
ledger.settle(number, "published")
"""
    child = run_child(script, ledger.path)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert ledger.spent()[0] == pytest.approx(expected)
    if said:
        assert ledger.state().charges[-1].outcome == "unknown"
    if expected < 1:
        ledger.charge(TENTH)  # the lock died with the process
        assert ledger.spent()[0] == pytest.approx(expected + 0.1)


def test_a_ledger_that_another_process_holds_is_said_to_be_locked(ledger):
    script = """
        import fcntl, time
        descriptor = os.open(sys.argv[1], os.O_RDWR)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        print("locked", flush=True)
        time.sleep(60)
    """
    child = run_child(script, ledger.path)
    try:
        assert child.stdout.readline() == "locked\n"
        impatient = FileLedger.__new__(FileLedger)
        impatient.path, impatient.wait = Path(ledger.path), 0.05
        with pytest.raises(EngineError, match="locked by another process"):
            impatient.charge(TENTH)
    finally:
        child.kill()
        child.communicate()
    ledger.charge(TENTH)
    assert ledger.spent()[0] == pytest.approx(0.1)
