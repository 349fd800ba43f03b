"""The fuzzer itself: it sees every way to fail, makes inputs small, and begins with files that can be read."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import harness  # noqa: E402
from targets import TARGETS, Target, make_given  # noqa: E402

import aidos.surfaces.cli  # noqa: E402, F401 (loaded before processes are forked, so that none waits for it)


def planted(call):
    return Target("planted", call=lambda data, _: call(data))


def fails_with(call):
    return lambda data: call() if b"!" in data else 0


def run_out_of_time():
    end = time.process_time() + 1
    while time.process_time() < end:
        pass


def steer():
    print("\x1b[2J")


@pytest.mark.parametrize(
    ("call", "how"),
    [
        (fails_with(lambda: {}["private"]), "KeyError in test_fuzz.py, line"),
        (fails_with(lambda: 4), "a broken promise"),
        (fails_with(lambda: 139), "exit code 139"),
        (fails_with(os.abort), "SIGABRT"),
        (fails_with(lambda: os.kill(os.getpid(), signal.SIGSEGV)), "SIGSEGV"),
        (fails_with(lambda: time.sleep(60)), "stuck for 3 s"),
        (fails_with(run_out_of_time), "more than 0.5 s of processor time"),
        (fails_with(lambda: bytearray(400_000_000).count(0) and 0), "more than 300 MB"),
        (fails_with(steer), "U+001B"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_way_to_fail_is_seen_and_told_without_the_input(call, how, tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "SECONDS_UNTIL_STUCK", 3 if "stuck" in how else 60)
    monkeypatch.setattr(harness, "SECONDS_PER_INPUT", 0.5 if "processor" in how else 60)
    # A forked process begins with the memory of this one.
    monkeypatch.setattr(harness, "MEGABYTES", 300 if "MB" in how else 100_000)
    assert harness.outcome(planted(call), b"quiet", tmp_path) == "" or "MB" in how
    said = harness.outcome(planted(call), b"not quiet!", tmp_path)
    assert how in said
    assert "private" not in said
    assert list(tmp_path.iterdir()) == []


def test_an_input_is_made_small_without_becoming_another_failure(tmp_path):
    def call(data):
        if b"!" in data and b"?" in data:
            raise KeyError
        if b"!" in data:
            raise ValueError
        return 0

    small, how = harness.minimise(planted(call), b"a long input ! with much ? around it" * 5, tmp_path)
    assert sorted(small) == sorted(b"!?")
    assert how.startswith("KeyError")


def test_the_first_byte_chooses_the_command():
    target = Target("two", ("check @a", "check @b"))
    assert target.chosen(b"\x01rest") == ("check @b", b"rest")
    assert target.chosen(b"\x02rest") == ("check @a", b"rest")
    assert target.chosen(b"") == ("check @a", b"")
    assert Target("one", ("check @a",)).chosen(b"\x01rest") == ("check @a", b"\x01rest")


@pytest.mark.slow
def test_seeds_are_answered_clearly_and_some_of_each_target_are_read(tmp_path):
    words = f"""
import sys; sys.path.insert(0, {str(HERE)!r})
from pathlib import Path
import harness, targets
place = Path({str(tmp_path)!r})
harness.stand_alone(place)
targets.make_given(place / "given")
for target in targets.TARGETS.values():
    inputs = list(target.seed_inputs(place / "given"))
    inputs = inputs[:: -(-len(inputs) // 40)]
    assert inputs, target.name
    for data in inputs:
        harness.attempt(target, data, place / "one")
    codes = []
    for data in inputs:
        (place / "one").mkdir()
        codes.append(harness._answer(target, data, place / "one"))
        harness.shutil.rmtree(place / "one")
    assert 0 in codes, target.name
"""
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_a_campaign_tells_what_it_did_and_fills_its_corpus(tmp_path):
    pytest.importorskip("atheris", reason="there is no atheris for this system")
    words = ["rules", "--inputs", "60", "--seconds", "60", "--seed", "1", "--workers", "1"]
    places = ["--corpus", str(tmp_path / "corpus"), "--failures", str(tmp_path / "failures")]
    command = [sys.executable, str(HERE / "campaign.py"), *words, *places]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    name, inputs, coverage, _, failures = done.stdout.splitlines()[1].split()
    assert (name, failures) == ("rules", "0")
    assert int(inputs) >= 60
    assert int(coverage) > 50
    assert list((tmp_path / "corpus" / "rules").iterdir())


@pytest.mark.slow
def test_every_file_that_a_command_reads_is_made(tmp_path):
    named = {
        word[1:] for target in TARGETS.values() for line in target.commands for word in line.split() if word[0] == "$"
    }
    make_given(tmp_path / "given")
    assert named <= {path.name for path in (tmp_path / "given").iterdir()}
