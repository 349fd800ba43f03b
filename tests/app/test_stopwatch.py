"""Phases do not overlap, and all time is somebody's."""

import pytest

from aidos.app import stopwatch
from aidos.app.stopwatch import COUNTING, NOISE, READING, Stopwatch


def test_time_belongs_to_the_innermost_phase(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(stopwatch, "_now", lambda: (float(now := next(clock)), now / 10))
    watch = Stopwatch()
    with watch.phase(READING), watch.task("reading", total=1, unit="rows"):
        pass
    with watch.phase(NOISE):
        with watch.task("counting people", total=1, unit="%") as task:
            task.advance(1)
        with watch.task("bounding", total=1, unit="%"):
            pass
    seconds = watch.seconds()
    assert {name: split["wall"] for name, split in seconds.items()} == {READING: 3, NOISE: 3, COUNTING: 2}
    assert seconds[COUNTING]["processor"] == pytest.approx(0.2)
