"""Pages about R-susceptibility: a person's own, the operator's, and that of the experiment on measures."""

import json
import re
from dataclasses import replace
from html import escape
from types import SimpleNamespace

import numpy as np
import pytest

from aidos.engine.embedded import EmbeddedEngine
from aidos.ingest.options import ReadOptions
from aidos.jobs.desk import Desk
from aidos.report.page import render
from aidos.rooms.risk.auditpage import risk_audit_page, spread_rows
from aidos.rooms.risk.community import rank_community
from aidos.rooms.risk.directory import RiskDirectory
from aidos.rooms.risk.jobs.audit import CommunityAudit
from aidos.rooms.risk.models import load_knowledge
from aidos.rooms.risk.overview import Bin, Overview, RiskOverview, Spread
from aidos.rooms.risk.page import reason_cards, reason_rows, risk_page, standing_rows, trend_figure
from aidos.rooms.risk.ranking import RiskRanking
from aidos.rooms.risk.sources import leave_out_repeats, read_entries
from aidos.rooms.risk.story import Asking, look_up_person
from aidos.studies.risk.assessment import Truth, assess, tabulate
from aidos.studies.risk.outcome import RiskBasis, RiskOutcome
from aidos.studies.risk.page import measure_rows

TOPICS = ("debt", "divorce")
MEASURES = ("lda", "lda-dt", "entropy")
ANN = "<i>ann</i> & 4711"
HOSTILE = "<script>alert(1)</script> {{ 7 * 7 }} &amp; \"'"
POSTS = [
    ("quiet", ANN, "2024-03-04", "the zucchini wants rain"),
    ("<u>2</u>", ANN, "2024-03-12", f"Creditors, arrears and bailiffs: the debts are back. {HOSTILE}"),
    ("third", ANN, "2024-03-20", "bankruptcy for debts, the creditors and the arrears"),
    ("cem", "cem-secretive", "2024-03-02", "xylophones; the divorce petition, alimony and custody"),
    ("lea", "lea-secretive", "2024-03-02", "nothing but walruses"),
    *((f"o{at}", f"other-{at}", "2024-03-03", "a walk to the quarry and back") for at in range(24)),
]
OTHERS = ("cem-secretive", "lea-secretive", "other-", "xylophones", "walruses", "quarry", "alimony")


@pytest.fixture(scope="module")
def community(tmp_path_factory):
    """The pages' makers over one small community: stories by person, and the overview of everybody."""
    place = tmp_path_factory.mktemp("risk")
    names = ("post_id", "author_id", "timestamp", "text")
    file = place / "posts.jsonl"
    file.write_text("".join(json.dumps(dict(zip(names, post, strict=True))) + "\n" for post in POSTS))
    directory, ranking = RiskDirectory(place / "ranks"), RiskRanking(topics=TOPICS, measures=MEASURES)
    with EmbeddedEngine(threads=1) as engine:
        with (
            read_entries(engine, [str(file)], ReadOptions(), without_times=False).held() as came,
            leave_out_repeats(came).held() as entries,
        ):
            state = rank_community(entries, ranking, load_knowledge(), Desk(threads=1)).state
            directory.create(state, entries)

        def story(person, **asked):
            return look_up_person(directory, state, engine, person, Asking(**asked, command=f"ask {HOSTILE}"))

        yield SimpleNamespace(
            story=story,
            page=lambda person, **asked: render(risk_page(story(person, **asked))),
            stemmed=state.plan.analyser,
            state=state,
            overview=lambda least: audited(state, RiskOverview(least=least)),
        )


def audited(state, overview):
    return CommunityAudit(value=overview.count(state), guarantee=overview.promise)


def seen(page):
    """The text of a page without its marks."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_a_persons_page_is_a_finding_with_her_posts_and_their_telling_words(community):
    page = community.page(ANN)
    assert "Finding: not for release" in page
    assert "<mark>Creditors</mark>" in page
    assert "<mark>debts</mark>" in page
    assert "1 of 27" in page
    assert "zucchini" not in page


def test_words_are_those_she_wrote_and_no_stems(community):
    story = community.story(ANN).value
    words = {word for row in reason_rows(story.report.ranks) for word in str(row[4]).split()}
    assert {"creditors", "arrears", "bailiffs", "debts"} <= words
    stems = {stem for stem in community.stemmed.meanings(sorted(words)) if stem} - words
    assert {"creditor", "debt", "bailiff"} <= stems
    told = " ".join(note for card in reason_cards(story.report.ranks, story.quotations) for note in card.notes[0][1])
    assert stems & set(re.findall(r"\w+", told)) == set()


@pytest.mark.parametrize("person", [ANN, "other-3"])
def test_nobody_else_is_on_a_persons_page(community, person):
    page = community.page(person, alert=0.5, draft="the creditors want the debts back")
    assert [word for word in OTHERS if word in page and word not in person] == []
    assert set(re.findall(r"other-\d+", page)) == ({person} if person != ANN else set())
    assert "want the debts back" not in seen(page)  # nothing is kept of a draft, not even there


def test_hostile_names_and_texts_are_escaped(community):
    page = community.page(ANN)
    for text in (ANN, "<u>2</u>", HOSTILE):
        assert text not in page
    assert "<script" not in page
    for text in (ANN, "<u>2</u>", "<script>alert(1)</script> {{ 7 * 7 }}"):
        assert escape(text) in page


def test_a_post_is_shown_once_for_a_topic_with_every_measure_that_goes_by_it(community):
    story = community.story(ANN, topics=("debt",)).value
    cards = reason_cards(story.report.ranks, story.quotations)
    names = [card.source.partition(",")[0] for card in cards]
    assert sorted(names) == ["<u>2</u>", "third"]
    first = next(card for card in cards if card.source.startswith(names[0]))
    assert [mark.partition(":")[0] for mark in first.marks[:2]] == ["lda", "lda-dt"]
    assert any(mark.startswith("entropy: ") for card in cards for mark in card.marks)
    assert all(sum("nearness" in mark for mark in card.marks) <= 1 for card in cards)


def test_nearness_is_told_by_measures_that_compare_entries(community):
    rows = reason_rows(community.story(ANN).value.report.ranks)
    assert {row[1] for row in rows if row[3] is None} == {"entropy"}
    assert all(0.1 < row[3] <= 1 for row in rows if row[1] != "entropy")


def test_alerts_are_only_for_what_there_is_evidence_for(community):
    threshold = 0.4
    quiet = community.story("other-3", alert=threshold)
    reached = [rank for rank in quiet.value.report.ranks if rank.standing.percentile >= threshold]
    assert reached  # by numbers alone she would be warned
    page = render(risk_page(quiet))
    assert "You are above your threshold" not in page
    assert "(above your threshold)" not in page
    warned = community.page(ANN, alert=threshold)
    assert "You are above your threshold (40) for debt." in seen(warned)


def test_without_evidence_a_page_says_so_and_draws_nothing(community):
    story = community.story("lea-secretive", draft="walruses again")
    page = render(risk_page(story))
    assert "Nothing of yours is near any of these topics: there is no evidence for any rank." in page
    assert "The draft is near none of these topics, and changes no rank that says anything." in page
    assert "Figure 1" not in page
    assert "<mark>" not in page
    assert "For lea-secretive: 1 post or query, ranked among 27 people." in page
    for topic, _, place, percentile, interval, _ in standing_rows(story.value.report.ranks):
        assert topic in TOPICS
        assert re.fullmatch(r"no evidence \(\d+ of 27\)", place)
        assert (percentile, interval) == (None, None)


def test_a_draft_that_crosses_the_threshold_is_told(community):
    page = seen(community.page(ANN, alert=0.9, draft="the divorce petition is filed, alimony and custody next"))
    assert re.search(r"divorce lda no evidence \d 9\d\.\d crossed", page)
    assert not re.search(r"debt lda \d \d [\d.]+ crossed", page)  # she was above it before


def test_a_history_begins_with_the_first_evidence(community):
    ranks = community.story(ANN).value.report.ranks
    assert {f"{stage.begins:%m-%d}" for rank in ranks for stage in rank.history} == {"03-04", "03-11", "03-18"}
    figure = trend_figure(ranks)
    assert [row[:2] for row in figure.table.rows] == [("debt (lda)", "2024-03-11"), ("debt (lda)", "2024-03-18")]
    assert "For debt the percentile has been 100 throughout" in figure.caption
    assert trend_figure(community.story("lea-secretive").value.report.ranks) is None


def test_the_operators_page_names_nobody_and_rounds(community):
    release = community.overview(10)
    page = render(risk_audit_page(release, f"audit {HOSTILE}"))
    assert "No promise" in page
    assert "At least 20 people are ranked. Nobody is named here." in page
    assert not any(name in page for name in (*OTHERS[:3], escape(ANN), "4711"))
    assert "<script" not in page
    rows = spread_rows(release.value)
    assert all(row[4] % 10 == 0 for row in rows)
    assert ("debt", "lda", "no evidence", None, 20) in rows


def test_an_operators_page_without_enough_people_near_has_numbers_and_no_chart(community):
    page = render(risk_audit_page(community.overview(10), "audit"))
    assert "No topic has enough people near to it to be told of." in page
    assert "Figure 1" not in page
    assert "People by topic, measure and risk" in page


def overview_of(people):
    """An overview by two measures, the second of which tells more."""
    spreads = []
    for measure, added in (("lda", 0), ("lda-dt:breadth=0.3", 20)):
        for topic, number in people.items():
            bins = (Bin(above=None, up_to=0.0, people=None), Bin(above=0.0, up_to=None, people=number + added))
            spreads.append(Spread(topic=topic, measure=measure, no_evidence=None, bins=bins))
    return Overview(people=200, least=20, spreads=tuple(spreads))


@pytest.mark.parametrize(
    ("people", "told"),
    [
        ({"<b>debt": 40, "hiv": 20}, "Most people come near to &lt;b&gt;debt: 60 or more, by lda-dt."),
        ({"hiv": 20, "debt": 20, "grief": 0}, "Most people come near to each of 2 topics: 40 or more, by lda-dt."),
    ],
)
def test_the_operators_figure_is_of_the_measure_that_tells_most(community, people, told):
    made = community.overview(20)
    page = render(risk_audit_page(replace(made, value=overview_of(people)), "audit"))
    assert told in page
    assert "<b>debt" not in page
    assert "what concerns fewer is left out" in page


def outcome_of(measures, *, roles=True, about="made-up people", **facts):
    """Forty people by several measures, each of which ranks the four afflicted as high as it is told to."""
    afflicted = np.zeros((40, 1), dtype=np.bool_)
    afflicted[:4] = True
    apart = {
        "professional": np.arange(40)[:, None] // 4 == 1,
        "curious": np.arange(40)[:, None] // 4 == 2,
        "afflicted": afflicted,
    }
    truth = Truth(topics=("debt",), grades=afflicted.astype(float), sensitive=afflicted, roles=apart if roles else {})
    rows = []
    for measure, found in measures.items():
        risks = np.linspace(0.5, 0.1, 40)[:, None].copy()
        risks[found:4] = 0.0
        rows += assess(measure, risks, truth)
    rows += assess("bow-dt", np.linspace(0.5, 0.1, 40)[:, None], truth, varied=("breadth", 0.5))
    basis = RiskBasis(about=about, people=40, entries=90, **facts)
    return RiskOutcome(rows={"measured": tabulate(rows)}, basis=basis, asked="evaluate")


FOUND = {"entropy": 1, "differential-privacy": 0, "bow": 2, "bow-d": 2, "bow-t": 3, "bow-dt": 4, "lda": 1}


def test_a_studys_page_has_all_measures_the_thesis_and_what_holds():
    outcome = outcome_of(FOUND)
    page = seen(render(outcome.page()))
    assert [row[0] for row in measure_rows(outcome)] == list(FOUND)
    assert "The best is bow-dt: it has 100% of the sensitive people among the first R." in page
    assert re.search(r"Passed bow-dt is above both baselines", page)
    assert re.search(r"Failed lda is above both baselines", page)
    assert "bow-dt 1.000, bow-t 0.750, bow 0.500, bow-d 0.500" in page  # the best measures, of seven that were tried
    assert "made up" in page  # the caution about the sample world
    assert "share of the domain that is broad (k)" in page
    assert "Finding" not in page


def test_a_study_of_real_people_is_a_finding_without_roles():
    hostile = "judged <script>alert(1)</script>"
    outcome = outcome_of({"lda": 2}, roles=False, about=hostile, kappa=0.25, judges=3, left_out={hostile: hostile})
    page = render(replace(outcome, asked=HOSTILE, synthetic=False).page())
    assert "Finding: not for release" in page
    assert "<script" not in page
    assert escape(hostile) in page
    assert "What could not be measured" in page
    assert "their agreement (kappa)" in page
    assert "Afflicted, professional, curious" not in page
