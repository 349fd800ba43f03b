import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.jobs.recipe import Recipe, read_recipe
from aidos.rooms.publish.catalogue import build_mechanism, build_release
from aidos.rooms.publish.multi import LogRelease
from aidos.rooms.publish.tables import TableRelease

kinds = st.lists(st.sampled_from(["keywords", "queries", "clicks", "pairs"]), min_size=1, unique=True)


@given(kinds, st.floats(0.01, 20), st.floats(1e-12, 0.1), st.integers(1, 100))
def test_a_recipe_survives_its_file(tmp_path_factory, items, epsilon, delta, limit):
    parameters = {"epsilon": epsilon, "delta": delta, "items_per_person": limit}
    recipe = Recipe(items=tuple(items), parameters=parameters)
    path = tmp_path_factory.mktemp("recipe") / "r.toml"
    path.write_text(recipe.to_toml())
    assert read_recipe(path) == recipe


def test_a_recipe_of_another_table_survives_its_file(tmp_path):
    recipe = Recipe(items=(), person="customer", columns=("product",), largest_set=2, parameters={"epsilon": 2.0})
    (tmp_path / "r.toml").write_text(recipe.to_toml())
    assert read_recipe(tmp_path / "r.toml") == recipe
    assert isinstance(build_release(recipe), TableRelease)


def test_a_recipe_builds_what_it_says():
    built = build_release(Recipe(items=("queries", "clicks"), parameters={"epsilon": 2.0}))
    assert isinstance(built, LogRelease)
    assert built.kinds == ("queries", "clicks")
    assert built.mechanism.epsilon == 2.0


def test_all_wrong_parameters_are_named_at_once():
    with pytest.raises(ParameterError) as caught:
        build_mechanism("count-gaussian", {"epsilon": -1, "delta": "much", "espilon": 1})
    for name in ("espilon", "epsilon", "delta"):
        assert name in str(caught.value)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf")])
def test_impossible_epsilons_are_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        build_mechanism("count-gaussian", {"epsilon": epsilon})


def test_an_unknown_mechanism_gets_the_nearest_name():
    with pytest.raises(ParameterError) as caught:
        build_mechanism("count-gausian", {})
    assert "count-gaussian" in caught.value.hint


@pytest.mark.parametrize("text", ["items = 3", "nonsense", "mechanism = []", 'surprise = "x"'])
def test_broken_recipes_are_refused_with_a_reason(tmp_path, text):
    path = tmp_path / "r.toml"
    path.write_text(text)
    with pytest.raises((InputError, ParameterError)):
        read_recipe(path)
    with pytest.raises(InputError, match="there is no file"):
        read_recipe(tmp_path / "missing.toml")
