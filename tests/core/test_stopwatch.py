"""Phases do not overlap, and all time is somebody's."""

import pytest

from aidos.core import progress
from aidos.core.progress import Stopwatch
from aidos.rooms.publish.jobs.publish import COUNTING, NOISE, READING


def test_time_belongs_to_the_innermost_phase(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(progress, "_now", lambda: (float(now := next(clock)), now / 10))
    watch = Stopwatch(inside={NOISE: COUNTING})
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
