from __future__ import annotations

import pytest

from aidos.errors import ParameterError
from aidos.world.size import MONTHS, World


def test_named_sizes_and_numbers() -> None:
    assert [World(size).people for size in ("tiny", "small", "medium", "aol", 17, "17")] == [
        300,
        5_000,
        100_000,
        650_000,
        17,
        17,
    ]


def test_the_aol_size_has_thirty_six_million_rows() -> None:
    world = World("aol")
    assert world.people * MONTHS * 34 * world.activity == pytest.approx(36e6)


@pytest.mark.parametrize("size", ["huge", "", "-5", "1.5", 0, -1, 10**9, True, "²"])
def test_impossible_sizes_are_refused(size: str | int) -> None:
    with pytest.raises(ParameterError, match="tiny, small, medium, aol or a number of people"):
        World(size)


def test_all_problems_are_named_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        World("huge", seed=-1, topics=10_000)
    assert all(word in caught.value.message for word in ("size", "seed", "topics"))


def test_worlds_are_values() -> None:
    assert World("tiny") == World("tiny", seed=7, topics=52)
    assert len({World(), World(seed=8), World(topics=142)}) == 3
