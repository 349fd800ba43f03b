"""The measures of guesses, by their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError
from aidos.rooms.shield.profile.guessing import guess, reappeared


@given(st.integers(0, 10**9))
def test_measures_follow_their_definitions(number):
    draws = np.random.default_rng(number)
    beliefs = draws.integers(0, 5, 12) / 4
    held, shown = draws.random(12) < 0.4, draws.random(12) < 0.2
    shown &= held
    found = guess(beliefs, held, shown)
    pairs = [(x > y) + (x == y) / 2 for x in beliefs[held] for y in beliefs[~held]]
    assert found.ranking == pytest.approx(np.mean(pairs) if pairs else np.nan, nan_ok=True)
    hidden = [i for i in range(12) if not shown[i]]
    top = [i for i in hidden if beliefs[i] == max(beliefs[hidden])]
    right = np.mean(held[top]) if held[hidden].any() else np.nan
    assert found.right == pytest.approx(right, nan_ok=True)
    best = [i for i in range(12) if beliefs[i] == max(beliefs)]
    assert found.first == pytest.approx(np.mean(held[best]) if held.any() else np.nan, nan_ok=True)
    assert found.blind == pytest.approx(held[hidden].mean() if held[hidden].any() else np.nan, nan_ok=True)
    if held.any():
        drawn = []
        for _ in range(400):
            order = sorted(range(12), key=lambda i: (-beliefs[i], draws.random()))
            drawn.append(held[order[: held.sum()]].mean())
        assert found.precision == pytest.approx(np.mean(drawn), abs=0.13)
        assert found.shown == pytest.approx(shown[held].mean())
        assert found.found == pytest.approx(np.mean([belief >= 0.9 for belief in beliefs[held]]))
    chances = [belief if has else 1 - belief for belief, has in zip(beliefs, held, strict=True)]
    assert found.loss == pytest.approx(np.mean([-np.log(max(chance, 1e-12)) for chance in chances]))


def test_measures_refuse_what_does_not_fit():
    with pytest.raises(InputError):
        guess(np.zeros(3), np.zeros(2, bool), np.zeros(3, bool))


def test_topics_hidden_before_they_were_shown_are_found():
    seeds = [np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([0, 3])]
    assert reappeared(seeds, [np.array([0, 1]), np.array([0, 2]), np.array([0, 3])]).tolist() == [2]
