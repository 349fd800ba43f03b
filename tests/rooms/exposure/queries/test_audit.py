"""The operator's audit: counts that are right, and that tell of nobody."""

import numpy as np
import pytest
from made_posts import as_table, compute_posts, made_post

from aidos.errors import InputError, ParameterError
from aidos.rooms.exposure.auditing import AuditCommunity, CommunityAudit
from aidos.rooms.exposure.queries.audit import ORDINARY, count_exposures, wilson
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore, walk


class Words:
    """Tea is about nothing, cancer about health and debt about money; in posts from 1,000 on nothing is."""

    categories = ("health", "money")
    about = np.array([[0.0, 0.0], [0.6, 0.1], [0.0, 1.0], [0.0, 0.0]])

    def senses(self, posts, words):
        return np.where((posts < 1000)[:, None], self.about[words], 0.1 * self.about[words])

    def texts(self, words):
        return [("tea", "cancer", "debt")[number] for number in words.tolist()]


def rows(*given):
    """Rows of (member, first, second, rank, whole, documents)."""
    members, first, second, ranks, whole, documents = (np.array(column) for column in zip(*given, strict=True))
    return Exposures(
        members=members.astype(np.int32),
        posts=members.astype(np.int32),
        first=first.astype(np.int32),
        second=second.astype(np.int32),
        ranks=ranks.astype(np.int16),
        whole=whole.astype(np.bool_),
        certain=np.ones(len(members), dtype=np.bool_),
        documents=documents.astype(np.int32),
        evenness=np.zeros(len(members), dtype=np.uint8),
    )


def some_members(number, word, start=0):
    return [(start + member, word, NO_WORD, 1, True, 1) for member in range(number)]


def audited(chunks, least=20, words=20):
    return count_exposures(chunks, Words(), least=least, words=words)


def kinds(audit):
    return {(kind.group, kind.name): kind for kind in audit.kinds}


def test_kinds_are_counted_over_all_chunks_each_member_once():
    first = rows(*some_members(3, 1), (0, 1, 2, 1, True, 4), (1, 0, 2, 2, False, 30))
    found = audited([first, rows(*some_members(4, 2, start=10))], least=2)
    by_name = kinds(found)
    assert (found.members, found.queries, found.exposures) == (6, 8, 9)  # seven members, in multiples of two
    assert by_name["match", "one word"].members == 6
    assert by_name["match", "two words, both in the post"].members is None  # a single member
    assert by_name["topic", "health"].members == 2
    assert by_name["topic", "money"].members == 6
    assert by_name["topic", "money"].exposures == 6
    assert by_name["topic", "health"].sensitivity == pytest.approx(0.7)  # (0.6 * 3 + 1) / 4
    assert by_name["topic", "health"].share == pytest.approx(1 / 3, abs=1e-3)
    assert by_name["held by", "one post holds it"].members == 6


def test_what_concerns_too_few_is_told_by_name_alone():
    found = audited([rows(*some_members(25, 0), *some_members(3, 1, start=30))], least=20)
    told = kinds(found)["topic", "health"]
    assert (told.members, told.queries, told.exposures, told.sensitivity) == (None, None, None, None)
    assert kinds(found)["topic", ORDINARY].members == 20
    assert found.words == ()


def test_words_are_listed_only_when_they_expose_enough_members():
    found = audited([rows(*some_members(12, 2), *some_members(4, 1, start=20))], least=5)
    assert found.words == (("debt", "money", 10),)


def test_a_word_in_a_post_about_something_else_counts_under_no_topic():
    found = audited([rows(*some_members(25, 1), *some_members(25, 1, start=1000))], least=20)
    by_name = kinds(found)
    assert (by_name["topic", "health"].members, by_name["topic", ORDINARY].members) == (20, 20)
    assert found.words == (("cancer", "health", 20),)


@pytest.mark.parametrize(("some", "low", "high"), [(0, 0.0, 0.0712), (25, 0.3664, 0.6336), (50, 0.9288, 1.0)])
def test_shares_have_wilsons_interval(some, low, high):
    assert wilson(some, 50) == pytest.approx((low, high), abs=1e-3)


def test_a_small_community_is_not_told_of_at_all():
    with pytest.raises(InputError, match="fewer than 20 members"):
        audited([rows(*some_members(19, 1))])
    with pytest.raises(InputError):
        audited([])
    with pytest.raises(ParameterError, match="least"):
        AuditCommunity(directory="e", least=1)


def test_counts_are_rounded_and_nothing_is_promised():
    found = audited([rows(*some_members(1234, 0))], least=20)
    assert (found.members, found.exposures) == (1220, 1200)
    assert "No guarantee" in CommunityAudit(value=found).facts()["guarantee"]


@pytest.mark.parametrize("portion", [1, 5, 1_000_000])
def test_walking_gives_every_member_whole_in_one_portion(tmp_path, portion):
    posts = [
        made_post(f"p{at}", text, f"author{at % 4}", at) for at, text in enumerate(["a b", "b c", "a c d", "d"] * 3)
    ]
    compute_posts(posts, SearchExposure(k=3), tmp_path / "e")
    store = ExposureStore.open(tmp_path / "e")
    store.delete(["p3"])
    store.add(as_table([made_post("q1", "a z", "author9", 20), made_post("q2", "b z", "author1", 21)]))
    chunks = list(walk(store.state, portion))
    members = [set(chunk.members.tolist()) for chunk in chunks]
    assert sum(map(len, members)) == len(set().union(*members))
    walked = Exposures.concatenate(chunks)
    looked_up = Exposures.concatenate([store.member(member) for member in range(store.state.members)])
    assert _sorted(walked) == _sorted(looked_up)


def _sorted(found):
    columns = (found.members, found.posts, found.first, found.second, found.ranks, found.whole, found.documents)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))
