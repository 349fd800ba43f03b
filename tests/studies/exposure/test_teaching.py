"""What rankers are taught from: which rows, which targets, and never the truth."""

import numpy as np
import pyarrow as pa
import pytest

from aidos.errors import InputError, ParameterError
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.cleaning import clean
from aidos.rooms.exposure.critical.features import feature_matrix
from aidos.rooms.exposure.critical.teaching import Signals, Teaching, community_scores, user_scores

FEW = Teaching(queries_per_member=40, least_queries=20, pseudo_count=0.5)
SOME = 12
"""Members that are looked at closely."""


@pytest.fixture(scope="module")
def rows(village):
    return FEW.rows(village)


@pytest.fixture(scope="module")
def signals(village_posts):
    return Signals.of(*village_posts, Analyser())


def test_rows_are_whole_clean_and_few_a_member(village, rows):
    exposures = rows.exposures
    assert exposures.whole.all()
    assert clean(village, exposures.take(exposures.members < SOME)).kept.all()
    counts = [len(places) for places in rows.by_member()]
    assert max(counts) == 40
    assert min(counts) >= 20
    assert (np.diff(exposures.members) >= 0).all()
    keys = {tuple(row) for row in np.stack([exposures.posts, exposures.first, exposures.second], axis=1).tolist()}
    assert len(keys) == len(rows)


def test_features_are_those_of_the_rows(village, rows):
    some = rows.exposures.members < SOME
    assert rows.matrix[some] == pytest.approx(feature_matrix(village, rows.exposures.take(some)))


def test_another_seed_draws_other_rows(village, rows):
    other = Teaching(queries_per_member=40, least_queries=20, seed=1).rows(village)
    assert len(other) != len(rows) or (other.exposures.first != rows.exposures.first).any()


def test_targets_are_grades_of_the_weighted_signals(village, rows, signals):
    exposures = rows.exposures
    signal = 0.3 * user_scores(village, exposures, signals.deletions) + community_scores(
        village, exposures, signals.anonymous_counts, signals.open_counts, pseudo_count=0.5
    )
    expected = [0 if s <= 0.1 else 2 if s >= 1 else 1 if s >= 0.5 else None for s in signal.tolist()]
    found = [None if np.isnan(grade) else int(grade) for grade in FEW.targets(village, exposures, signals)]
    assert found == expected
    assert {0, 1, None} <= set(found)


def test_posts_of_which_nothing_is_known_teach_nothing(village, rows, signals):
    unknown = Signals(deletions={}, anonymous_counts=signals.anonymous_counts, open_counts=signals.open_counts)
    assert np.isnan(FEW.targets(village, rows.exposures, unknown)).all()


def test_signals_come_from_deletions_and_both_communities(village_posts, signals):
    posts, anonymous = village_posts
    assert signals.deletions == dict(zip(posts["post_id"].to_pylist(), posts["deleted_later"].to_pylist(), strict=True))
    words = [Analyser().terms(f"{row['title'] or ''} {row['text']}") for row in anonymous.to_pylist()]
    assert sum(signals.anonymous_counts.values()) == sum(map(len, words))
    assert signals.anonymous_counts["the"] == sum(said.count("the") for said in words)
    with pytest.raises(InputError, match="deleted"):
        Signals.of(pa.table({"post_id": ["a"], "text": ["b"]}), anonymous, Analyser())


def test_a_community_with_nothing_to_rank_is_refused(village):
    with pytest.raises(InputError, match="1000000 queries"):
        Teaching(queries_per_member=10**6, least_queries=10**6).rows(village)


@pytest.mark.parametrize("wrong", [{"harmless": 0.6}, {"least_queries": 300}, {"critical": 2.0}, {"pseudo_count": 0.0}])
def test_impossible_teaching_is_refused(wrong):
    with pytest.raises(ParameterError):
        Teaching(**wrong)
