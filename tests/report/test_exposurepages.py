"""Pages about exposure: a member's own, and the operator's."""

from dataclasses import replace

import pytest

from aidos.core.mechanism import Finding
from aidos.report.page import Card, Chapter, Page, render
from aidos.rooms.exposure.auditing import CommunityAudit
from aidos.rooms.exposure.member import MemberExposure
from aidos.rooms.exposure.pages import CriticalQuery, MemberStory, PostRemedy, TiedOutQueries, query_card
from aidos.rooms.exposure.queries.audit import Audit, Kind


def found(**changes):
    given = {
        "query": "debt <lawyer>",
        "rank": 2,
        "whole": True,
        "certain": False,
        "holders": 1,
        "quotation": (("My ", False), ("debt", True), (" & <b>", False)),
        "when": "2024-03-01",
        "reasons": ("the query has a word about money",),
        "helps": ("Another word for debt takes the post out of the first 10.",),
    }
    return CriticalQuery(**(given | changes))


def story(**changes):
    given = {
        "member": "anna",
        "k": 10,
        "exposures": 40,
        "queries": 30,
        "posts": 3,
        "sure": 25,
        "ranked": 12,
        "dropped": (("partial match", 20), ("number", 8)),
        "critical": (found(),),
        "remedies": (PostRemedy(post="My debt", when="2024-03-01", listed=1, word="debt", ended=1),),
        "order": "the order is by the sensitivity of topics",
        "command": "aidos expose member anna --in e",
    }
    return MemberStory(**(given | changes))


def test_a_members_page_is_a_finding_with_marked_words_and_escaped_text():
    page = MemberExposure(value=story()).page()
    assert isinstance(page.source, Finding)
    text = render(page)
    assert "Finding: not for release" in text
    assert "<mark>debt</mark> &amp; &lt;b&gt;" in text
    assert "debt &lt;lawyer&gt;" in text
    assert "depends on ties" in text
    assert "no other post holds it" in text


def test_a_member_whom_nothing_exposes_gets_a_page_all_the_same():
    nothing = story(critical=(), remedies=(), dropped=(), exposures=0, queries=0, posts=0, sure=0)
    text = render(MemberExposure(value=nothing).page())
    assert "No query is left to rank." in text


def test_whom_a_tie_alone_leaves_out_is_told_on_the_page():
    tied = TiedOutQueries(queries=2, posts=1, examples=("debt", "debt <b>"), posts_looked_at=40)
    text = render(MemberExposure(value=story(tied_out=tied)).page())
    assert "Exposed if ties fall otherwise" in text
    assert "2 queries more would return 1 post" in text
    assert "debt &lt;b&gt;" in text
    assert "at least: not every query" not in text
    text = render(MemberExposure(value=story(tied_out=replace(tied, left_out=3))).page())
    assert "Of the newest 40 posts, and at least" in text


def test_cards_leave_out_what_they_do_not_have():
    text = render(Page(title="t", lead="", chapters=(Chapter(title="c", blocks=(Card(title="only this"),)),)))
    assert "only this" in text
    assert "<blockquote" not in text
    assert 'card-notes"' not in text
    assert query_card(found(holders=3), 10).marks[-1] == "3 posts hold it"


@pytest.mark.parametrize("told", [True, False])
def test_the_operators_page_names_topics_and_nobody(told):
    counted = {"group": "topic", "queries": 9, "exposures": 90, "sensitivity": 0.4}
    share = {"share": 0.5, "low": 0.393, "high": 0.607} if told else dict.fromkeys(("share", "low", "high"))
    health = Kind(name="health", members=40 if told else None, **counted, **share)
    plain = Kind(name="no sensitive topic", members=80, **counted, share=1.0, low=0.954, high=1.0)
    audit = Audit(
        members=80, queries=20, exposures=200, least=20, kinds=(health, plain), words=(("flu", "health", 40),)
    )
    text = render(CommunityAudit(value=audit, asked="aidos expose audit --in e").page())
    assert "Finding: not for release" in text
    assert "No guarantee" in text
    assert "aidos expose audit --in e" in text
    assert ("health exposes most members" in text) == told
    assert ("0.393 to 0.607" in text) == told
    assert ("No sensitive topic exposes enough members" in text) != told
