"""From posts on disk to a ranked list: the store answers what ranking asks."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from town import Town

from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.exposure.critical.cleaning import clean
from aidos.rooms.exposure.critical.community import Drafted
from aidos.rooms.exposure.critical.features import FEATURES, feature_matrix
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.rank import rank_member
from aidos.rooms.exposure.critical.teaching import user_scores
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.draft import DRAFT
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore

START = datetime(2024, 1, 1)  # noqa: DTZ001 (posts have no zone)


def community(posts, path, analyser):
    """A store of the posts; later ones are older, so that ties fall by number as in `Town`."""
    table = pa.table(
        {
            "post_id": [f"p{at}" for at in range(len(posts))],
            "author_id": [f"member {member}" for member, _ in posts],
            "timestamp": [START + timedelta(days=at) for at in range(len(posts))],
            "text": [text for _, text in posts],
        }
    )
    with EmbeddedEngine(threads=1) as engine:
        compute(engine.table(table), SearchExposure(k=3, ties="oldest", analyser=analyser), path, threads=1)
    return ExposureStore.open(path)


@pytest.fixture(scope="module", params=["words", "words:stop_words=english,stemmer=english"])
def both(request, posts, tmp_path_factory):
    path = tmp_path_factory.mktemp("community") / "exposure"
    return community(posts, path, request.param), Town(posts, analyser=request.param)


def test_features_and_cleaning_are_those_of_the_town(both):
    store, town = both
    for member in range(3):
        rows, expected = store.member(member), town.exposures(member)
        assert store.words(rows.first) == town.words(expected.first)
        assert rows.posts.tolist() == expected.posts.tolist()
        assert feature_matrix(store, rows) == pytest.approx(feature_matrix(town, expected))
        assert clean(store, rows).reasons.tolist() == clean(town, expected).reasons.tolist()
        assert user_scores(store, rows, {"p0": True}) == pytest.approx(
            user_scores(town, expected, {"p0": True}), nan_ok=True
        )


def test_a_member_and_a_draft_are_ranked(both):
    store, _ = both
    weights = [5.0 if name == "topical_sensitivity" else 0.0 for name in FEATURES]
    zeros, ones = (0.0,) * len(FEATURES), (1.0,) * len(FEATURES)
    model = CriticalityModel(features=FEATURES, weights=tuple(weights), means=zeros, deviations=ones)
    ranked = rank_member(store, store.member(0), model, top=5)
    assert "cancer" in store.words([number for number in (ranked.rows.first[0], ranked.rows.second[0]) if number >= 0])
    text = "cancer and chemotherapy in the garden"
    rows = store.draft(text, member=1, when=START)
    drafted = rank_member(Drafted(store, text), rows, model, top=5)
    assert set(drafted.rows.posts.tolist()) == {DRAFT}
    assert np.isfinite(drafted.scores).all()
    assert drafted.scores[0] > 0
    nobody = store.draft(text, member=None, when=START)
    assert len(rank_member(Drafted(store, text), nobody, model, top=5)) == 5
