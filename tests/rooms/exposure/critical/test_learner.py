import numpy as np
import pytest

from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.rooms.exposure.critical import lambdarank, learner
from aidos.rooms.exposure.critical.lambdarank import TreeModel, train_trees
from aidos.rooms.exposure.critical.learner import LEARNED, train

PLANTED = np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0])
NAMES = ("strong", "against", "weak", "noise one", "noise two", "noise three")


def made_up(noise=0.5, members=60, rows=40, seed=0):
    """Rows whose targets follow planted weights; every member has a level of their own, which must not matter."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(members), rows)
    matrix = rng.normal(size=(len(groups), 6)) * [1, 10, 0.5, 1, 1, 3] + [0, 5, 0, 0, 2, 0]
    level = rng.normal(size=members)[groups] * 20
    standard = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
    return groups, matrix, standard @ PLANTED + level + noise * rng.normal(size=len(groups))


@pytest.fixture(scope="module")
def trained():
    return train(*made_up(), features=NAMES, seed=4, folds=10, about="planted", trained_on="made up rows")


def test_planted_weights_are_found(trained):
    weights = np.array(trained.model.weights)
    assert weights @ PLANTED / np.linalg.norm(weights) / np.linalg.norm(PLANTED) > 0.99
    assert np.abs(weights[3:]).max() < 0.1 * np.abs(weights).max()
    assert [name for name, _ in trained.model.importance()][:3] == ["strong", "against", "weak"]
    assert trained.model.trained_on == "made up rows"


def test_the_learned_ranker_beats_every_single_feature_on_unseen_members(trained):
    learned, best, *others = trained.validation.table()
    assert learned.ranker == LEARNED
    assert best.ranker == "strong"
    assert learned.agreement > best.agreement + 5 * (learned.error + best.error)
    noise = [line.agreement for line in others if line.ranker.startswith("noise")]
    assert len(noise) == 3
    assert all(abs(agreement - 0.5) < 0.05 for agreement in noise)


def test_tuned_members_are_not_in_the_cross_validation(trained):
    assert len(trained.validation.members) == 54
    fixed = train(*made_up(), features=NAMES, seed=4, cost=trained.cost)
    assert fixed.validation.members.tolist() == list(range(60))
    assert fixed.model.weights == trained.model.weights


def test_agreement_is_the_share_of_pairs_in_order():
    groups, matrix, targets = made_up(noise=0.0, members=12, rows=8)
    found = train(groups, matrix, targets, features=NAMES, cost=100.0, folds=3).validation
    for place, member in enumerate(found.members):
        own = np.flatnonzero(groups == member)
        ahead = [np.sign(matrix[a, 0] - matrix[b, 0]) for a in own for b in own if targets[a] > targets[b]]
        assert found.single[place, 0] == pytest.approx((1 + np.mean(ahead)) / 2)


def test_the_direction_of_a_baseline_is_learned(trained):
    against = next(line for line in trained.validation.table() if line.ranker == "against")
    assert against.agreement > 0.55


def test_the_same_seed_gives_the_same_model(trained):
    again = train(*made_up(), features=NAMES, seed=4, folds=10, about="planted", trained_on="made up rows")
    assert again.model == trained.model
    assert np.array_equal(again.validation.learned, trained.validation.learned)
    assert train(*made_up(), features=NAMES, seed=5).model != trained.model


def test_unknown_targets_teach_nothing():
    groups, matrix, targets = made_up(members=20)
    more = np.concatenate([matrix, matrix[::-1] * 3])
    unknown = np.concatenate([targets, np.full(len(targets), np.nan)])
    with_unknown = train(np.tile(groups, 2), more, unknown, features=NAMES, folds=3)
    assert with_unknown.model == train(groups, matrix, targets, features=NAMES, folds=3).model


def test_a_feature_that_never_changes_weighs_nothing():
    groups, matrix, targets = made_up(members=20)
    matrix[:, 3] = 7.0
    model = train(groups, matrix, targets, features=NAMES, folds=3).model
    assert model.weights[3] == 0.0
    assert (model.means[3], model.deviations[3]) == (7.0, 1.0)


def test_binary_targets_and_members_with_two_rows_are_enough():
    rng = np.random.default_rng(1)
    groups, matrix = np.repeat(np.arange(40), 2), rng.normal(size=(80, 1))
    better = matrix[::2, 0] > matrix[1::2, 0]
    targets = np.stack([better, ~better], axis=1).astype(float).ravel()
    trained = train(groups, matrix, targets, features=("x",), folds=4)
    assert trained.pairs == 40
    assert trained.validation.learned.tolist() == [1.0] * 36


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"targets": np.zeros(240)}, InputError, "only 0 members"),
        ({"folds": 30}, InputError, "only 12 members"),
        ({"folds": 1}, ParameterError, "folds"),
        ({"cost": 0.0}, ParameterError, "cost"),
        ({"targets": np.zeros(3)}, ParameterError, "3 targets"),
        ({"features": ("x",)}, ParameterError, "one column for each of the 1"),
        ({"matrix": np.full((240, 6), np.inf)}, ParameterError, "not finite"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(change, error, told):
    groups, matrix, targets = made_up(members=12, rows=20)
    given = {"groups": groups, "matrix": matrix, "targets": targets, "features": NAMES, **change}
    with pytest.raises(error, match=told):
        train(given.pop("groups"), given.pop("matrix"), given.pop("targets"), **given)


@pytest.fixture(scope="module")
def trees():
    rng = np.random.default_rng(2)
    groups, matrix = np.repeat(np.arange(40), 30), rng.random((1200, 3))
    # A corner that no straight line cuts out.
    targets = ((matrix[:, 0] > 0.5) ^ (matrix[:, 1] > 0.5)).astype(float)
    return train_trees(groups, matrix, targets, features=("x", "y", "noise"), seed=1, folds=3), matrix, targets, groups


def test_trees_learn_what_a_line_cannot(trees):
    trained, matrix, targets, groups = trees
    assert trained.validation.learned.mean() > 0.9
    line = train(groups, matrix, targets, features=("x", "y", "noise"), seed=1, folds=3)
    assert line.validation.learned.mean() < 0.65
    scores = trained.model.score(matrix)
    assert scores[targets == 1].mean() > scores[targets == 0].mean()


def test_what_features_add_sums_to_the_score_of_trees(trees):
    trained, matrix, _, _ = trees
    rest = trained.model.score(matrix) - trained.model.contributions(matrix).sum(axis=1)
    assert rest == pytest.approx(np.full(len(matrix), rest[0]))
    assert (
        np.abs(trained.model.contributions(matrix)[:, 2]).max() < np.abs(trained.model.contributions(matrix)).max() / 2
    )


def test_trees_are_saved_and_only_their_own_file_is_read(trees, tmp_path):
    trained, matrix, _, _ = trees
    path = tmp_path / "trees.json"
    trained.model.save(path)
    loaded = TreeModel.load(path, features=("x", "y", "noise"))
    assert np.array_equal(loaded.score(matrix), trained.model.score(matrix))
    with pytest.raises(InputError, match="these features"):
        TreeModel.load(path)
    with pytest.raises(InputError, match="there is no file"):
        TreeModel.load(tmp_path / "none.json")
    with pytest.raises(InputError, match="damaged"):
        TreeModel(features=("x",), trees="no trees").score(matrix)


def test_trees_are_the_same_for_the_same_seed(trees):
    trained, matrix, targets, groups = trees
    again = train_trees(groups, matrix, targets, features=("x", "y", "noise"), seed=1, folds=2)
    assert again.model == trained.model


def test_grades_are_fifths_and_equal_targets_share_one():
    grades = lambdarank._grades(np.array([*range(10), np.nan], dtype=float))
    assert grades.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, -1]
    assert lambdarank._grades(np.array([0.0] * 9 + [1.0])).tolist() == [0] * 9 + [1]
    assert lambdarank._grades(np.array([0.0] + [1.0] * 9)).tolist() == [0] + [1] * 9


@pytest.mark.parametrize(
    ("module", "learn", "extra"), [(lambdarank, train_trees, "lambdarank"), (learner, train, "exposure")]
)
def test_a_missing_package_names_its_extra(monkeypatch, module, learn, extra):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", missing)
    with pytest.raises(MissingExtraError) as caught:
        learn(np.zeros(2), np.zeros((2, 1)), np.zeros(2), features=("x",))
    assert caught.value.extra == extra
