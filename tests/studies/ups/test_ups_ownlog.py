"""People of a log as searchers: profiles from earlier queries, later ones tried, and named profiles in their place."""

import numpy as np
import pytest

from aidos.core.profile import KeptProfile, tree_digest
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.ingest.options import ReadOptions
from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.shield.profile.requirement import default_requirement
from aidos.studies.ups.eavesdropping import QUERIES_ALONE, UNMARKED, measure_observers, measure_sessions
from aidos.studies.ups.eavesdropping import watched_searchers as watch
from aidos.studies.ups.plan import UpsExperiment
from aidos.studies.ups.ranking import measure_reranking
from aidos.studies.ups.searchers import LOG, NAMED, gather_log, identify, read_log
from aidos.studies.ups.study import WALK, UpsStudy, study_ups

PLAN = UpsExperiment(
    parts=("eavesdropper",), session_limits=(0.1,), made_up=2, small_people=2, watched_queries=(2,), watched=2, walk=40
)
ILL = ("menopause hot flushes", "diabetes insulin", "vegetable gardening compost", "menopause", "lawn mower", "insulin")
WELL = ("jazz piano", "garden pests", "lawn mower", "piano", "vegetable gardening compost", "jazz")
FEW = ("menopause", "jazz", "piano")


def written(path, **people):
    """A log in which people ask in turn, the first query again at the end."""
    rows = [(number, name, text) for name, texts in people.items() for number, text in enumerate([*texts, texts[0]])]
    lines = [f"{name},2024-03-05T09:{number:02}:00,{text}" for number, name, text in sorted(rows)]
    path.write_text("\n".join(["client_id,timestamp,user_query", *lines]) + "\n")
    return path


def society(path, search, *profiles, plan=PLAN):
    with EmbeddedEngine() as engine:
        return gather_log(read_log(engine, [str(path)], ReadOptions()), search, plan, profiles)


def kept(search, supports, marks):
    return KeptProfile(taxonomy="x", digest=tree_digest(search.tree), supports=supports, sensitivities=marks)


@pytest.fixture(scope="module")
def search():
    return TopicSearch(default_taxonomy())


@pytest.fixture
def log(tmp_path):
    return written(tmp_path / "log.csv", ill=ILL, well=WELL, few=FEW)


def test_the_earlier_half_is_the_profile_and_the_later_half_is_asked(log, search):
    found = society(log, search)
    asked = {tuple(query.text for query in one.queries): one for one in found.searchers}
    assert asked.keys() == {ILL[3:], WELL[3:]}
    ill = asked[ILL[3:]]
    places = search.map_texts(ILL[:3])
    assert dict(ill.profile.supports) == {search.tree.ids[place]: 1.0 for place in places.tolist()}
    assert not any(query.meant for query in ill.queries)
    assert "2 of 3 people" in found.about
    assert found.population == tuple(one.profile for one in found.searchers)


def test_marked_is_what_the_shield_marks_by_default(log, search):
    found = society(log, search)
    for one in found.searchers:
        usual = default_requirement(search.taxonomy, one.profile).sensitivities
        weights = found.person(one).layer.sensitivities
        assert {search.tree.ids[place] for place in np.flatnonzero(weights)} == set(usual)
    (ill,) = watch(found)
    assert {search.tree.ids[place] for place in np.flatnonzero(ill.layer.sensitivities)} == {"reproduction", "diseases"}


def test_named_profiles_go_with_all_queries_of_everybody_under_their_own_marks(log, search):
    mine = kept(search, {"gardening": 3.0, "jazz": 2.0, "menopause": 1.0}, {"gardening": 2.0})
    found = society(log, search, mine)
    assert sorted(len(one.queries) for one in found.searchers) == [3, 6, 6]
    assert all(dict(one.profile.supports) == dict(mine.supports) for one in found.searchers)
    assert found.name == NAMED
    assert len(found.population) == 4
    person = found.person(found.searchers[0])
    assert person.layer.total == 2.0
    candidates = {search.tree.ids[place] for place in person.sensitive.tolist()}
    # Not marked though she holds it: not sensitive for her. What she does not hold is as for everybody.
    assert "gardening" in candidates
    assert candidates.isdisjoint({"menopause", "reproduction"})
    assert "diseases" in candidates


def test_the_observer_and_sessions_are_played_on_the_logs_people(log, search):
    found = society(log, search)
    rows = [row for row in measure_observers(PLAN, found).to_pylist() if row["people"] == LOG]
    assert {row["rule"] for row in rows} >= {QUERIES_ALONE, UNMARKED}
    assert all(row["unasked"] == 0 and row["shown"] == 0 for row in rows if row["rule"] == UNMARKED)
    months = measure_sessions(PLAN, {LOG: watch(found)}).to_pylist()
    assert {(row["people"], row["person"]) for row in months} == {(LOG, 0)}
    with pytest.raises(ParameterError, match="what these queries meant is not known"):
        measure_reranking(PLAN, found)


def test_who_is_alone_is_not_guessed_at_and_the_page_says_so(tmp_path, search):
    found = study_ups(society(written(tmp_path / "log.csv", ill=ILL), search), search, PLAN)
    assert set(found.basis.left_out) == {"reranking", WALK}
    assert not [row for row in found.rows["profiles-watched"].to_pylist() if row["people"] == LOG]
    assert [row for row in found.rows["months-watched"].to_pylist() if row["people"] == LOG]
    assert not found.synthetic
    assert any("not for release" in remark for remark in found.remarks())
    assert any(f"{WALK}: left out" in remark for remark in found.remarks())


def test_a_limited_number_of_people_is_drawn_by_the_seed_whatever_the_order_of_rows(tmp_path, search):
    people = {f"p{number}": ILL for number in range(8)}
    one = written(tmp_path / "one.csv", **people, q=WELL)
    other = written(tmp_path / "other.csv", q=WELL, **dict(reversed(people.items())))
    plan = UpsExperiment(parts=("limits",), searchers=4)
    first, second = (society(path, search, plan=plan) for path in (one, other))
    assert len(first.searchers) == 4
    assert identify(first) == identify(second)
    assert identify(first) != identify(society(one, search))
    assert identify(society(one, search)) != identify(society(one, search, kept(search, {"jazz": 1.0}, {"jazz": 1.0})))


@pytest.mark.parametrize(
    ("people", "words"),
    [
        ({"few": FEW, "other": FEW}, "of 2 people of the log nobody asked 6 different queries"),
        ({"odd": tuple(f"xq{number}zz" for number in range(8))}, "about a topic of the taxonomy"),
        ({"well": WELL}, "nothing to hide"),
        ({"nobody": ("  ", "  ")}, "no row of the log has a query"),
    ],
)
def test_logs_that_say_too_little_are_refused(tmp_path, search, people, words):
    with pytest.raises(InputError, match=words):
        society(written(tmp_path / "log.csv", **people), search)


def test_a_profile_without_queries_and_a_log_without_truth_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="queries that go with a profile"):
        UpsStudy(profile=(tmp_path / "mine.json",))
    with pytest.raises(ParameterError, match="lists cannot be re-ranked"):
        UpsStudy(log=("log.csv",), part=("reranking",))
