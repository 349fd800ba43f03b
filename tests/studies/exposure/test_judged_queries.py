"""Judged queries looked up in a community, and models measured by what judges said."""

import numpy as np
import pytest

from aidos.errors import InputError, ParameterError
from aidos.rooms.exposure.critical.features import FEATURES, feature_matrix
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.queries.records import NO_WORD
from aidos.studies.exposure.judged import Judgements, judged_experiment

MEMBERS = range(6)


def made(authors, queries, means, posts=None):
    return Judgements(
        author_ids=tuple(authors),
        queries=tuple(queries),
        post_ids=tuple(posts or [""] * len(authors)),
        means=np.array(means, dtype=np.float64),
        judged=np.full(len(authors), 3),
        kappa=0.4,
        judges=3,
    )


def only(feature):
    """A model that ranks by one feature."""
    weights = tuple(float(name == feature) for name in FEATURES)
    nothing, ones = (0.0,) * len(FEATURES), (1.0,) * len(FEATURES)
    return CriticalityModel(features=FEATURES, weights=weights, means=nothing, deviations=ones)


@pytest.fixture(scope="module")
def asked(village):
    """Forty rows of each of some members, as judges would be shown them; relevance is few documents."""
    stream = np.random.default_rng(3)
    authors, queries, posts, means, rows = [], [], [], [], []
    for member in MEMBERS:
        held = village.member(member)
        chosen = held.take(stream.permutation(len(held))[:40])
        for at in range(len(chosen)):
            words = [chosen.first[at], chosen.second[at]]
            spelled = village.words(np.array([word for word in words if word != NO_WORD]))
            authors.append(village.author([member])[0])
            queries.append(" ".join(reversed(spelled)))
            posts.append(village.posts(chosen.posts[at : at + 1])["post_id"][0].as_py())
            means.append(float(chosen.documents[at] < 5))
        rows.append(chosen)
    return made(authors, queries, means, posts), rows


def test_models_are_measured_on_the_rows_that_were_judged(village, asked):
    judgements, rows = asked
    found = judged_experiment(village, judgements, {"few": only("selectivity"), "topical": only("topical_sensitivity")})
    assert found.rankers[:2] == ("few", "topical")
    assert found.basis.unmatched == 0
    assert found.basis.kappa == 0.4
    assert found.basis.members + found.basis.left_out == len(rows)
    assert "judged by 3 people" in found.basis.about
    # Few documents are what these judges mind: selectivity is right when it is turned round, and wrong as it stands.
    assert found.mean("selectivity", "ndcg_20") == pytest.approx(1.0)
    assert found.directions[found.rankers.index("selectivity")] == -1
    assert found.mean("few", "kendall") == pytest.approx(-found.mean("selectivity", "kendall"))
    expected = feature_matrix(village, rows[0])[:, FEATURES.index("topical_sensitivity")]
    assert found.basis.topical_correlation == pytest.approx(
        np.corrcoef(
            np.concatenate([expected, *(feature_matrix(village, row)[:, -1] for row in rows[1:])]), judgements.grades
        )[0, 1]
    )


def test_items_that_do_not_return_the_member_are_counted(village, asked):
    judgements, _ = asked
    author, query = judgements.author_ids[0], judgements.queries[0]
    more = made(
        [*judgements.author_ids, "nobody", author, author, author, author],
        [*judgements.queries, query, "zzzz", "three different words", "", query],
        [*judgements.means, 1, 1, 1, 1, 1],
        [*judgements.post_ids, "", "", "", "", "p-unknown"],
    )
    found = judged_experiment(village, more, {"few": only("selectivity")})
    assert found.basis.unmatched == 5
    assert found.basis.rows == judged_experiment(village, judgements, {"few": only("selectivity")}).basis.rows


def test_without_a_post_the_best_place_of_the_member_counts(village):
    held = village.member(0)
    keys = held.first.astype(np.int64) << 32 | held.second.astype(np.int64) & 0xFFFFFFFF
    values, counts = np.unique(keys, return_counts=True)
    twice, once = keys == values[counts > 1][0], keys == values[counts == 1][0]
    queries = []
    for which in (twice, once):
        at = np.flatnonzero(which)[0]
        words = [word for word in (held.first[at], held.second[at]) if word != NO_WORD]
        queries.append(" ".join(village.words(np.array(words))))
    author = village.author([0])[0]
    found = judged_experiment(village, made([author] * 2, queries, [1, 0]), {"rank": only("rank")})
    best, other = held.ranks[twice].min(), held.ranks[once][0]
    assert found.of("rank", "kendall")[0] == np.sign(float(best) - float(other))


def test_nothing_to_measure_is_refused(village, asked):
    with pytest.raises(ParameterError, match="no model"):
        judged_experiment(village, asked[0], {})
    with pytest.raises(InputError, match="none of the judged"):
        judged_experiment(village, made(["nobody"], ["x"], [1]), {"few": only("rank")})
