"""The model that comes along: what its tool makes, and that the file is for these features."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from aidos.rooms.exposure.critical.features import FEATURES
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.teaching import Teaching
from aidos.world.size import World

TOOLS = Path(__file__).parents[3] / "tools"


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(TOOLS))
    try:
        import train_exposure
    finally:
        sys.path.remove(str(TOOLS))
    return train_exposure


def test_the_model_that_comes_along_is_labelled_rounded_and_for_these_features(tool):
    model = CriticalityModel.default()
    assert model.features == FEATURES
    assert "sample world" in model.trained_on
    assert "nobody in it is real" in model.trained_on
    assert model.about == tool.ABOUT
    assert tool.rounded(model) == model
    assert tool.TARGET.read_text(encoding="utf-8") == model.to_json()
    weights = dict(model.importance())
    assert weights["topical_sensitivity"] > 0
    assert weights["selectivity"] < 0


def test_models_are_alike_but_for_the_last_digits(tool):
    model = CriticalityModel.default()
    nudged = replace(model, weights=tuple(weight + 1e-6 for weight in model.weights))
    moved = replace(model, weights=(model.weights[0] + 0.01, *model.weights[1:]))
    assert tool.alike(model, nudged)
    assert not tool.alike(model, moved)
    assert not tool.alike(model, replace(model, about="something else"))


@pytest.mark.slow
def test_training_again_gives_the_same_model_and_another_world_another(tool):
    teaching = Teaching(queries_per_member=60)
    made = [tool.rounded(tool.make(World(500, seed), teaching).model) for seed in (3, 3, 4)]
    assert tool.alike(made[0], made[1])
    assert made[0].to_json() == made[1].to_json()
    assert not tool.alike(made[0], made[2])
    assert "seed 3" in made[0].trained_on
