"""Every state that aidos keeps is damaged in seeded ways and opened for real; see `statedirs`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from statedirs import KINDS, in_child, make_index, make_models, trial

HARNESS = Path(__file__).with_name("harness.py")
TRIALS = 8
"""Of each kind; `make fuzz` makes more."""
SMALL = {"index": make_index, "models": make_models}
"""Made in no time, without a command."""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    place = tmp_path_factory.mktemp("small")
    for make in SMALL.values():
        make(place)
    return place


@pytest.mark.parametrize("name", sorted(SMALL))
def test_small_states_are_opened_or_refused_in_words(small, name):
    for seed in range(6):
        outcome = trial(small, KINDS[name], seed)
        assert outcome.is_clear, outcome


@pytest.mark.slow
def test_every_state_is_opened_as_it_was_made_and_refused_in_words_when_it_is_damaged(tmp_path):
    # In a process of its own: libraries that this one has started do not survive a fork.
    asked = [sys.executable, HARNESS, "states", ",".join(KINDS), tmp_path, "0", str(TRIALS * len(KINDS)), "0"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    trials = [json.loads(line) for line in done.stdout.splitlines()]
    assert {trial["kind"] for trial in trials} == set(KINDS)
    assert [trial for trial in trials if trial["how"]] == []


def test_a_crash_would_be_seen(tmp_path):
    def crash(_):
        import ctypes

        ctypes.string_at(0)

    outcome = in_child(tmp_path, "nothing", 0, "nothing", [crash])
    assert outcome.code < 0
    assert not outcome.is_clear
    outcome = in_child(tmp_path, "nothing", 0, "nothing", [lambda _: 1 / 0])
    assert outcome.code == 4
    assert not outcome.is_clear
