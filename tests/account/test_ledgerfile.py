"""The ledger file with real processes, real kills and real damage."""

import os
import signal
import subprocess
import sys
import textwrap
from math import sqrt
from pathlib import Path

import pytest
from gaussianparts import discrete_gaussian_part
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.account.budget import Accountant, Budget
from aidos.account.jointdelta import count_gaussian
from aidos.account.ledger import FileLedger, Ledger
from aidos.account.ledgerstate import read_state
from aidos.account.lineage import DataSet
from aidos.account.opening import find_ledger, open_ledger
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


def data_of(place, text="the data\n"):
    file = place / f"{abs(hash(text))}.tsv"
    file.write_text(text)
    return DataSet((file,))


def opened(place, budget=None, text="the data\n"):
    budget = budget or Budget(epsilon=1, delta=1e-6, accountant=Accountant.BASIC)
    return open_ledger(place, budget, data_of(place if place.is_dir() else place.parent, text))


def forget_witnesses():
    """As after a crash before the last line was whole: no witness has seen it."""
    for witness in Path(os.environ["AIDOS_REGISTRY"]).glob("*.witness"):
        witness.unlink()


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
    again = FileLedger(written.path)
    assert again.state().budget == budget
    assert [spend.guarantee for spend in again.state().spends] == spends
    assert again.spent() == written.spent()


def test_outcomes_are_remarks_and_give_nothing_back(ledger):
    first = ledger.book(TENTH, about="queries").number
    second = ledger.book(TENTH).number
    third = ledger.book(TENTH).number
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


def test_in_a_directory_the_name_is_random_and_tells_nothing(tmp_path):
    ledger = opened(tmp_path)
    assert ledger.path.stem == ledger.state().id
    assert find_ledger(tmp_path, data_of(tmp_path)) == ledger.path
    assert find_ledger(tmp_path, data_of(tmp_path, "others\n")) is None
    with pytest.raises(ParameterError, match="already"):
        opened(tmp_path)
    opened(tmp_path, text="others\n")


def test_only_its_owner_can_read_it(ledger):
    assert ledger.path.stat().st_mode & 0o777 == 0o600
    ledger.path.chmod(0o644)
    with pytest.raises(InputError, match="others"):
        ledger.charge(TENTH)


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


def test_missing_ledgers_and_directories_are_refused(tmp_path, ledger):
    with pytest.raises(InputError, match="there is no ledger"):
        FileLedger(tmp_path / "none.ledger")
    with pytest.raises(InputError, match="no file"):
        FileLedger(tmp_path)
    with pytest.raises(ParameterError, match="exists"):
        opened(ledger.path, text="more data\n")
    with pytest.raises(ParameterError, match="does not exist"):
        open_ledger(tmp_path / "no" / "such", Budget(epsilon=1, delta=0), data_of(tmp_path))


def test_any_altered_byte_is_noticed(ledger):
    for number in range(3):
        ledger.settle(ledger.book(TENTH, about=f"release {number}").number, "published")
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
    ledger.settle(ledger.book(TENTH).number, "published")
    assert FileLedger(ledger.path).spent()[0] == pytest.approx(0.2)


def test_a_second_crash_at_any_byte_of_the_mark_loses_nothing(ledger):
    ledger.charge(TENTH)
    first = ledger.path.stat().st_size
    ledger.charge(ApproxDP(epsilon=0.3, delta=1e-7))
    os.truncate(ledger.path, first + 40)
    forget_witnesses()
    ledger.close()
    marked = ledger.path.read_bytes()
    for size in range(first + 40, len(marked) + 1, 3):
        ledger.path.write_bytes(marked[:size])
        assert ledger.spent()[0] == pytest.approx(1.0)
        forget_witnesses()
        ledger.close()
        assert FileLedger(ledger.path).state().closed


@pytest.mark.parametrize(
    "written", ['{"type":"ApproxDP","epsilon":1}', '{"type":"PureDP","unit":"x"}', "7", "[" * 9999]
)
def test_a_last_line_that_no_crash_of_ours_wrote_counts_as_everything(tmp_path, written):
    ledger = opened(tmp_path / "x")
    ledger.charge(TENTH)
    with ledger.path.open("ab") as file:
        file.write(f'{{"line":{ledger.state().lines + 1},"kind":"charged","guarantee":{written}'.encode())
    assert ledger.spent()[0] == pytest.approx(1.0)


@given(cut=st.integers(1, 10_000), second_cut=st.integers(0, 200))
@settings(max_examples=30, deadline=None)
def test_a_last_line_cut_anywhere_counts_as_spent(tmp_path_factory, cut, second_cut):
    place = tmp_path_factory.mktemp("torn")
    ledger = opened(place / "x", text=f"{place}\n")
    ledger.charge(TENTH)
    before = len(ledger.path.read_bytes())
    ledger.charge(ApproxDP(epsilon=0.3, delta=1e-7))
    whole = ledger.path.read_bytes()
    keep = before + 1 + cut % (len(whole) - before - 1)
    os.truncate(ledger.path, keep)
    forget_witnesses()
    readable = '"neighbours":"add-or-remove-one"}' in whole[before:keep].decode()
    expected = 0.4 if readable else 1.0
    assert ledger.spent()[0] == pytest.approx(expected)
    if readable:
        ledger.charge(TENTH)  # the next writer marks the torn line, and life goes on
        assert ledger.spent()[0] == pytest.approx(0.5)
        ledger.settle(ledger.book(TENTH).number, "published")
        assert FileLedger(ledger.path).spent()[0] == pytest.approx(0.6)
    else:
        with pytest.raises(BudgetError, match="cut a charge short"):
            ledger.charge(TENTH)
        ledger.close()
        assert ledger.state().closed
    # A second crash, in the middle of marking the first.
    os.truncate(ledger.path, min(keep + second_cut, ledger.path.stat().st_size))
    forget_witnesses()
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
        from aidos.account.ledger import FileLedger
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
    # where the process dies: (the function, which of its calls, how much of it is done), epsilon spent afterwards
    "before the witness is prepared": ("write", 1, "p[:0]", 0.0),
    "in the middle of preparing it": ("write", 1, "p[:30]", 0.0),
    "before the witness is flushed": ("fsync", 1, None, 0.0),
    "before the write": ("write", 2, "p[:0]", 0.0),
    "in the middle of the write, before the cost": ("write", 2, "p[:30]", 1.0),
    "in the middle of the write, after the cost": ("write", 2, "p[:250]", 0.4),
    "between write and flush": ("fsync", 2, None, 0.4),
    "before the witness takes its place": ("replace", 1, None, 0.4),
    "after the witness took its place": ("fsync", 4, None, 0.4),
    "between charge and publication": ("write", 9, None, 0.4),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_gives_nothing_back_and_charges_nothing_twice(ledger, step):
    name, call, done, expected = STEPS[step]
    script = f"""
from aidos.account.ledger import FileLedger
from aidos.core.guarantee import ApproxDP
ledger = FileLedger(Path(sys.argv[1]))
true, calls = os.{name}, []
def dying(*given):
    calls.append(given)
    if len(calls) == {call}:
        if {done is not None}:
            d, p = given
            true(d, {done})
        os.kill(os.getpid(), signal.SIGKILL)
    return true(*given)
os.{name} = dying
charged = ledger.book(ApproxDP(epsilon=0.4, delta=1e-7), about="queries")
print("charged", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    child = run_child(script, ledger.path)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert ledger.spent()[0] == pytest.approx(expected)
    ledger.witnessed()
    if said:
        assert ledger.state().charges[-1].outcome == "unknown"
    if expected < 1:
        ledger.charge(TENTH)  # the lock died with the process, and the next charge mends the witness
        assert ledger.spent()[0] == pytest.approx(expected + 0.1)
        assert ledger.witnessed()[0].endswith(f"line {ledger.state().lines}")
    assert not list(Path(os.environ["AIDOS_REGISTRY"]).glob(".*.partial")) or expected == 1


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
