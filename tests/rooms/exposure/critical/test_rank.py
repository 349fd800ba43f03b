from collections import Counter

import numpy as np
import pytest
from town import Town, rows_of

from aidos.errors import ParameterError
from aidos.rooms.exposure.critical.cleaning import clean
from aidos.rooms.exposure.critical.community import Drafted
from aidos.rooms.exposure.critical.features import FEATURES, feature_matrix
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.rank import rank_member, reasons
from aidos.rooms.exposure.queries.draft import DRAFT
from aidos.rooms.exposure.queries.records import NO_WORD


def model_of(**weights):
    ones = (1.0,) * len(FEATURES)
    return CriticalityModel(
        features=FEATURES,
        weights=tuple(float(weights.get(name, 0.0)) for name in FEATURES),
        means=(0.0,) * len(FEATURES),
        deviations=ones,
    )


SENSITIVE = model_of(topical_sensitivity=5, category_alcohol=3, rank=-0.1, user_surprisal=0.01)


def query(town, rows, at):
    return tuple(town.words([n for n in (rows.first[at], rows.second[at]) if n != NO_WORD]))


def test_the_list_is_what_sorting_all_rows_by_hand_gives(town):
    exposures = town.exposures(1)
    kept = clean(town, exposures).kept
    scores = SENSITIVE.score(feature_matrix(town, exposures))
    best = {}
    for at in np.flatnonzero(kept):
        name = query(town, exposures, at)
        if name not in best or scores[at] > best[name]:
            best[name] = scores[at]
    ranked = rank_member(town, exposures, SENSITIVE, top=1000, rows_per_post=None)
    assert ranked.queries == len(ranked) == len(best)
    assert ranked.scores == pytest.approx(sorted(best.values(), reverse=True))
    for at in range(len(ranked)):
        assert best[query(town, ranked.rows, at)] == pytest.approx(ranked.scores[at])
    assert exposures.take(ranked.places).posts.tolist() == ranked.rows.posts.tolist()
    assert ranked.given == len(exposures)
    assert sum(ranked.dropped.values()) == len(exposures) - kept.sum()
    assert "whiskey" in query(town, ranked.rows, 0) or "vodka" in query(town, ranked.rows, 0)


def test_raw_rows_and_partial_matches_can_be_kept(town):
    exposures = town.exposures(0)
    raw = rank_member(town, exposures, SENSITIVE, top=10_000, clean=False, partial=True)
    assert raw.dropped == {}
    names = {query(town, exposures, at) for at in range(len(exposures))}
    assert {query(town, raw.rows, at) for at in range(len(raw))} == names
    whole = rank_member(town, exposures, SENSITIVE, top=10_000, clean=False)
    assert whole.rows.whole.all()
    assert whole.dropped == {"partial match": int((~exposures.whole).sum())}


def test_no_post_fills_the_list_while_others_wait_and_no_row_is_lost(town):
    exposures = town.exposures(0)
    everything = rank_member(town, exposures, SENSITIVE, top=10_000, rows_per_post=None)
    spread = rank_member(town, exposures, SENSITIVE, top=10_000, rows_per_post=2)
    assert Counter(spread.places.tolist()) == Counter(everything.places.tolist())
    posts = Counter(everything.rows.posts.tolist())
    assert max(posts.values()) > 2
    first_round = sum(min(2, count) for count in posts.values())
    assert max(Counter(spread.rows.posts[:first_round].tolist()).values()) == 2
    # Within a round the order is that of the scores.
    assert (np.diff(spread.scores[:first_round]) <= 0).all()


def test_posts_with_the_same_words_are_one_post_to_a_reader():
    town = Town([(0, "whiskey vodka hangover"), (0, "Vodka, hangover; whiskey!"), (0, "doctor garden weather")], k=5)
    ranked = rank_member(town, town.exposures(0), SENSITIVE, top=4, rows_per_post=2)
    assert sorted(ranked.rows.posts.tolist()).count(2) == 2


def test_chunks_change_nothing(town, monkeypatch):
    exposures = town.exposures(0)
    whole = rank_member(town, exposures, SENSITIVE, top=50)
    monkeypatch.setattr("aidos.rooms.exposure.critical.rank.CHUNK", 7)
    pieces = rank_member(town, exposures, SENSITIVE, top=50)
    assert pieces.places.tolist() == whole.places.tolist()
    assert pieces.reasons == whole.reasons


def test_a_member_without_rows_and_bad_settings(town):
    assert len(rank_member(town, rows_of(), SENSITIVE)) == 0
    with pytest.raises(ParameterError, match="at least 1"):
        rank_member(town, town.exposures(0), SENSITIVE, top=0)
    other = CriticalityModel(features=("x",), weights=(1.0,), means=(0.0,), deviations=(1.0,))
    with pytest.raises(ParameterError, match="other features"):
        rank_member(town, town.exposures(0), other)


def test_reasons_are_parts_beyond_the_members_own_average():
    model = model_of(rank=-2.0, category_alcohol=4.0, selectivity=0.5)
    matrix = np.zeros((3, len(FEATURES)))
    places = {name: FEATURES.index(name) for name in ("rank", "category_alcohol", "selectivity")}
    matrix[:, places["rank"]] = [1, 3, 5]
    matrix[:, places["category_alcohol"]] = [1, 0, 0]
    matrix[:, places["selectivity"]] = 8.0
    found = reasons(model, matrix, matrix)
    up = {reason.feature: reason.part for reason in found[0].up}
    assert up == pytest.approx({"rank": 4.0, "category_alcohol": 4.0 * 2 / 3})
    assert found[0].down == ()
    assert found[0].sentence() == ("The post stands high among the results; the query has a word about alcohol.")
    assert [reason.words for reason in found[2].down] == [
        "the post stands low among the results",
        "the query has no word about alcohol",
    ]
    # All her queries have the same selectivity: it explains none of their places.
    assert "selectivity" not in {reason.feature for told in found for reason in (*told.up, *told.down)}
    parts = sum(reason.part for reason in (*found[2].up, *found[2].down))
    scores = model.score(matrix)
    assert parts == pytest.approx(scores[2] - scores.mean())


def test_nothing_stands_out_where_all_rows_are_alike():
    matrix = np.ones((2, len(FEATURES)))
    assert reasons(SENSITIVE, matrix, matrix)[0].sentence().startswith("Nothing stands out")
    with pytest.raises(ParameterError, match="at least one row"):
        reasons(SENSITIVE, matrix, matrix[:0])


def test_a_draft_ranks_as_if_it_were_posted(posts):
    text = "whiskey and hangovers in the garden"
    before, after = Town(posts), Town([*posts, (1, text)])
    drafted = Drafted(before, text)
    rows = after.exposures(1)
    own = rows.take(rows.posts == len(posts))
    renumbered = {after.numbers[word]: number for number, word in enumerate(before.spelled)}
    renumbered |= {after.numbers["hangovers"]: len(before.spelled), NO_WORD: NO_WORD}
    first, second = ([renumbered[number] for number in column.tolist()] for column in (own.first, own.second))
    draft_rows = rows_of(
        *zip(
            own.members,
            [DRAFT] * len(own),
            first,
            second,
            own.ranks,
            own.whole,
            own.certain,
            own.documents,
            own.evenness,
            strict=True,
        )
    )
    found, expected = feature_matrix(drafted, draft_rows), feature_matrix(after, own)
    # Only what the pinned statistics say may differ: they are those of before.
    pinned = [FEATURES.index(name) for name in ("user_surprisal", "document_surprisal", "proximity")]
    assert np.array_equal(np.delete(found, pinned, axis=1), np.delete(expected, pinned, axis=1))
    assert np.abs(found[:, pinned] - expected[:, pinned]).max() < 0.5
    ranked = rank_member(drafted, draft_rows, SENSITIVE, top=3)
    assert set(ranked.rows.posts.tolist()) == {DRAFT}
    assert drafted.words(np.array([len(before.spelled), 0])) == ["hangovers", before.spelled[0]]
    assert drafted.counts_of(np.array([len(before.spelled)])).tolist() == [1]


def test_a_draft_of_nobody_stands_alone(town):
    drafted = Drafted(town, "garden garden haha")
    assert drafted.posts_of(-1).tolist() == [DRAFT]
    starts, words, counts = drafted.terms_of(np.array([7, DRAFT, 8]))
    assert starts[1] - starts[0] == len(town.bags[7])
    own = slice(int(starts[1]), int(starts[2]))
    assert dict(zip(drafted.words(words[own]), counts[own].tolist(), strict=True)) == {"garden": 2, "haha": 1}
    assert starts[-1] == len(words) == len(counts)
    assert drafted.posts(np.array([7, DRAFT])).column("text").to_pylist() == [town.written[7][1], "garden garden haha"]
