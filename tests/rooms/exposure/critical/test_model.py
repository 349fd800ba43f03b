import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from town import Town

from aidos.errors import InputError, ParameterError
from aidos.rooms.exposure.critical.features import FEATURES, feature_matrix
from aidos.rooms.exposure.critical.learner import train
from aidos.rooms.exposure.critical.model import KIND, VERSION, CriticalityModel

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


def small(**changes):
    given = {"features": ("a", "b"), "weights": (2.0, -1.0), "means": (1.0, 0.0), "deviations": (2.0, 0.5)}
    return CriticalityModel(**{**given, **changes})


def test_scores_are_weighted_standard_values_and_parts_add_up():
    matrix = np.array([[1.0, 0.0], [3.0, 0.0], [1.0, 0.5]])
    assert small().score(matrix) == pytest.approx([0.0, 2.0, -1.0])
    assert small().contributions(matrix).sum(axis=1) == pytest.approx(small().score(matrix))
    assert small().importance() == [("a", 2.0), ("b", -1.0)]


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.floats(1e-3, 1e6)), min_size=1, max_size=5))
def test_what_is_saved_is_what_is_read(tmp_path_factory, rows):
    names = tuple(f"feature {place}" for place in range(len(rows)))
    weights, means, deviations = zip(*rows, strict=True)
    model = CriticalityModel(
        features=names, weights=weights, means=means, deviations=deviations, about="why", trained_on="where"
    )
    path = tmp_path_factory.mktemp("models") / "model.json"
    model.save(path)
    assert CriticalityModel.load(path, features=names) == model
    assert not path.with_name("model.json.part").exists()


def damaged(**changes):
    return json.dumps({**json.loads(small().to_json()), **changes})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no json", "no JSON"),
        ("[1, 2]", "no criticality model"),
        (damaged(kind="another"), "no criticality model"),
        (damaged(version=VERSION + 1), "another version"),
        (damaged(features=[{"feature": "a"}]), "damaged"),
        (damaged(features=7), "damaged"),
        (damaged(features=[{"feature": "a", "weight": float("nan"), "mean": 0, "deviation": 1}]), "damaged"),
        (
            damaged(features=[{"feature": "c", "weight": 1, "mean": 0, "deviation": 1}]),
            "2 are missing, 1 are not known",
        ),
        (damaged(features=json.loads(small().to_json())["features"][::-1]), "order differs"),
    ],
)
def test_other_files_are_refused_with_a_hint(tmp_path, text, told):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(InputError, match=told) as caught:
        CriticalityModel.load(path, features=("a", "b"))
    assert caught.value.hint
    assert str(path) in caught.value.message


def test_a_file_that_is_not_there_or_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        CriticalityModel.load(tmp_path / "none.json")
    with pytest.raises(ParameterError, match=r"the directory of .* does not exist"):
        small().save(tmp_path / "nowhere" / "model.json")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"weights": (1.0,)}, "as many as"),
        ({"features": ("a", "a")}, "must differ"),
        ({"weights": (1.0, float("inf"))}, "finite"),
        ({"deviations": (1.0, 0.0)}, "greater than 0"),
    ],
)
def test_impossible_models_are_refused(changes, told):
    with pytest.raises(ParameterError, match=told):
        small(**changes)


def test_a_matrix_of_other_features_is_refused():
    with pytest.raises(ParameterError, match="2 features"):
        small().score(np.zeros((3, 3)))


def test_a_model_file_holds_no_word_of_a_member(tmp_path):
    rng = np.random.default_rng(3)
    secret = ["zyxquarrel", "wvutlament", "qponmisery", "lkjigossip", "hgfedrumour", "cbazymalady"]
    town = Town([(member, " ".join(rng.choice(secret, 3))) for member in range(14) for _ in range(3)], k=5)
    exposures = town.exposures()
    targets = rng.random(len(exposures))
    trained = train(exposures.members, feature_matrix(town, exposures), targets, folds=2, about="a test")
    path = tmp_path / "model.json"
    trained.model.save(path)
    told = json.loads(path.read_text())
    assert not any(word in path.read_text() for word in [*secret, "p0"])
    assert {row["feature"] for row in told.pop("features")} == set(FEATURES)
    assert told == {"kind": KIND, "version": VERSION, "about": "a test", "trained_on": ""}
