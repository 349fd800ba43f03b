"""The experiment on the sample world: what it finds, what it keeps, and what it refuses."""

import shutil
import stat

import numpy as np
import pytest

from aidos.errors import InputError, ParameterError
from aidos.rooms.exposure.critical.features import FEATURES
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.teaching import Rows, Teaching
from aidos.rooms.exposure.queries.records import Exposures
from aidos.studies.exposure.experiment import (
    ExposureExperiment,
    TrueCriticality,
    sample_community,
    sample_experiment,
    true_grades,
)
from aidos.studies.exposure.study import LEARNED, MEASURES, SENSITIVITY
from aidos.world.size import World

pytestmark = pytest.mark.slow

# In a village words are few: one occurrence must count.
SMALL = ExposureExperiment(
    teaching=Teaching(queries_per_member=30, least_queries=20, pseudo_count=0.5), folds=2, cost=10.0
)
FLAT = CriticalityModel(
    features=FEATURES,
    weights=(0.0,) * len(FEATURES),
    means=(0.0,) * len(FEATURES),
    deviations=(1.0,) * len(FEATURES),
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory, village_world):
    keep = tmp_path_factory.mktemp("experiment") / "kept"
    return keep, sample_experiment(village_world, SMALL, models={"flat": FLAT}, output=keep)


def test_all_rankers_are_measured_on_the_truth(kept, village_world):
    _, found = kept
    assert found.rankers == (LEARNED, SENSITIVITY, "flat", "community_score", "user_score", *FEATURES)
    assert found.kinds[:5] == ("learned", "model", "model", "signal", "signal")
    assert 0 < found.basis.members < village_world.people
    assert "not reproduced" in found.basis.about
    # A model that says nothing is chance: its precision is the share of critical queries, its tau 0.
    assert found.of("flat", "kendall") == pytest.approx(np.zeros(found.basis.members))
    assert found.of("flat", "precision_10") == pytest.approx(found.of("flat", "precision_20"))
    # Too few to learn from; but words of sensitive topics must be critical more often than others.
    assert found.basis.topical_correlation > 0.1
    assert found.mean("topical_sensitivity", "kendall") > 0.1
    # What the rest of the post says beats the words alone.
    assert found.mean(SENSITIVITY, "ndcg_10") > found.mean("topical_sensitivity", "ndcg_10") + 0.05


def test_grades_are_those_of_the_world(village, village_posts, village_world):
    posts = village_posts[0]
    truth = TrueCriticality(village_world)
    levels = dict(zip(posts["post_id"].to_pylist(), truth.levels(posts).tolist(), strict=True))
    troubled = [village.member(number) for number in range(40)]
    for held in troubled:
        some = held.take(np.arange(0, len(held), max(1, len(held) // 50)))
        ids = village.posts(some.posts)["post_id"].to_pylist()
        queries = [
            [village.words([w])[0] for w in pair if w >= 0] for pair in zip(some.first, some.second, strict=True)
        ]
        expected = [levels[name] * given for name, given in zip(ids, truth.reveals(queries).tolist(), strict=True)]
        assert true_grades(village, posts, some, truth).tolist() == expected


def test_what_is_kept_is_not_done_again_and_only_its_owner_may_read_it(kept, village_world):
    keep, found = kept
    exposure = keep / "exposure"
    moved = exposure.rename(keep / "elsewhere")
    again = sample_experiment(village_world, SMALL, models={"flat": FLAT}, output=keep)
    assert not exposure.exists()
    moved.rename(exposure)
    assert again.rankers == found.rankers
    assert again.directions == found.directions
    assert again.basis == found.basis
    assert np.array_equal(again.values, found.values)
    assert stat.S_IMODE((keep / "measured.parquet").stat().st_mode) == 0o600


def test_what_was_cut_off_goes_on_to_the_same_end(kept, tmp_path, village_world):
    keep, found = kept
    shutil.copytree(keep / "exposure", tmp_path / "exposure")
    shutil.copy(keep / "experiment.sha256", tmp_path)
    again = sample_experiment(village_world, SMALL, models={"flat": FLAT}, output=tmp_path)
    assert np.array_equal(again.values, found.values)


def test_results_of_another_experiment_are_refused(kept, tmp_path, village_world):
    keep, _ = kept
    for world, experiment in ((World(161, 5), SMALL), (village_world, ExposureExperiment(folds=3))):
        with pytest.raises(InputError, match="another experiment"):
            sample_experiment(world, experiment, models={"flat": FLAT}, output=keep)
    shutil.copy(keep / "experiment.sha256", tmp_path)
    (tmp_path / "measured.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="cannot be read"):
        sample_experiment(village_world, SMALL, models={"flat": FLAT}, output=tmp_path)


def test_nobody_is_ranked_by_what_was_learned_from_her():
    members, queries = 40, 12
    number = members * queries
    owners = np.repeat(np.arange(members, dtype=np.int32), queries)
    targets = np.random.default_rng(2).integers(0, 2, number).astype(float)
    # What marks the critical queries of a member is a feature that is hers alone; only the last one is everybody's.
    matrix = np.zeros((number, len(FEATURES)))
    matrix[np.arange(number), owners] = targets
    numbers, yes = np.arange(number, dtype=np.int32), np.ones(number, dtype=np.bool_)
    exposures = Exposures(
        members=owners,
        posts=numbers,
        first=numbers,
        second=numbers,
        ranks=np.ones(number, dtype=np.int16),
        whole=yes,
        certain=yes,
        documents=numbers,
        evenness=np.zeros(number, dtype=np.uint8),
    )
    scores = SMALL.ranked(Rows(exposures=exposures, matrix=matrix), targets).reshape(members, queries)
    assert np.ptp(scores, axis=1) == pytest.approx(np.zeros(members), abs=1e-12)
    matrix[:, -1] = targets
    scores = SMALL.ranked(Rows(exposures=exposures, matrix=matrix), targets)
    assert scores[targets == 1].min() > scores[targets == 0].max()


def test_communities_are_apart(village_world):
    posts, anonymous = sample_community(village_world)
    assert all(name.startswith("anon") for name in anonymous["author_id"].to_pylist())
    assert not any(name.startswith("anon") for name in posts["author_id"].to_pylist())
    assert "deleted_later" in posts.column_names


def test_impossible_experiments_are_refused():
    with pytest.raises(ParameterError, match="folds"):
        ExposureExperiment(folds=1)
    with pytest.raises(ParameterError, match="cost"):
        ExposureExperiment(cost=0.0)


@pytest.mark.slow
def test_the_model_that_comes_along_beats_every_single_feature_on_a_world_it_does_not_know():
    found = sample_experiment(
        World("small", 23),
        ExposureExperiment(teaching=Teaching(queries_per_member=100), folds=2, cost=10.0),
        models={"shipped": CriticalityModel.default()},
    )
    for measure in MEASURES:
        assert found.unbeaten(measure, "shipped") == []
