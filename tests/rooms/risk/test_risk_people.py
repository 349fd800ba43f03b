import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from risk_worlds import ASKED, NAMES, TOPICS, WEEK, engine, models_of, people_of, posts, rows

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.ingest.reading import read_files
from aidos.model.sensitive import SensitiveTopic, TopicSet
from aidos.model.text.analyser import Analyser
from aidos.model.text.vocabulary import Vocabulary
from aidos.rooms.risk import people as module
from aidos.rooms.risk.entries import bags_of, bucket_numbers
from aidos.rooms.risk.knowledge import RiskModels, make_space
from aidos.rooms.risk.measures import MEASURES, RiskQuestion, risks
from aidos.rooms.risk.people import read_people
from oracles.risk import plain_entries

MODELS = models_of()


@settings(max_examples=40, deadline=None)
@given(given=rows, batch=st.sampled_from([1, 3, 1000]))
def test_people_hold_what_was_in_the_table_whatever_the_batches(given, batch):
    usual, module.BATCH = module.BATCH, batch
    try:
        people = people_of(given)
    finally:
        module.BATCH = usual
    assert people.ids.to_pylist() == sorted({row[0] for row in given})
    for person, name in enumerate(people.ids.to_pylist()):
        own = sorted((row[1], number, row[2]) for number, row in enumerate(given) if row[0] == name)
        first, last = people.person_starts[person : person + 2]
        assert people.times[first:last].tolist() == [time for time, _, _ in own]
        assert people.entry_ids.slice(first, last - first).to_pylist() == [f"p{number:05}" for _, number, _ in own]
        for entry, (_, _, text) in zip(plain_entries(people, person), own, strict=True):
            assert entry == {word: text.split().count(word) for word in text.split()}
        assert people.owners(first, last).tolist() == [person] * len(own)


@settings(max_examples=20, deadline=None)
@given(given=rows)
def test_one_person_alone_has_her_own_entries_and_words(given):
    people = people_of(given)
    for person in range(len(people)):
        alone = people.alone(person)
        assert alone.ids.to_pylist() == [people.ids[person].as_py()]
        assert plain_entries(alone, 0) == plain_entries(people, person)
        assert set(alone.vocabulary) == {word for entry in plain_entries(people, person) for word in entry}
        assert alone.facts.entries == alone.entries == len(plain_entries(people, person))


def test_facts_count_what_a_reader_should_know():
    facts = people_of([("a", 0, "x y"), ("a", 1, ""), ("b", 0, "x"), ("c", 0, "..."), ("c", 1, None)]).facts
    assert (facts.people, facts.entries, facts.words) == (3, 5, 2)
    assert (facts.people_with_one_entry, facts.people_without_words, facts.entries_without_words) == (1, 1, 3)
    assert facts.entries_without_time == 0


def test_titles_count_and_the_analyser_decides_what_a_word_is():
    table = posts([("a", 0, "My debts"), ("b", 0, None)]).append_column("title", pa.array(["The Loans", "Alone"]))
    people = read_people(table, analyser=Analyser(stop_words="english", stemmer="english"))
    assert [plain_entries(people, person) for person in (0, 1)] == [[{"loan": 1, "debt": 1}], [{"alon": 1}]]


def log(**columns):
    return pa.table(columns)


def test_a_query_that_was_clicked_is_one_entry():
    table = log(
        client_id=["u", "u", "u", "u", "v"],
        timestamp=pa.array([10, 10, 30, 40, 10], type=pa.timestamp("s")),
        user_query=["debt help", "debt help", "debt help", "loans", "debt help"],
        query_id=["1", "1", "2", None, "3"],
        action=["query", "click", "query", "query", "query"],
    )
    people = read_people(table)
    assert np.diff(people.person_starts).tolist() == [3, 1]
    assert people.times.tolist() == [10, 30, 40, 10]
    without_ids = read_people(table.drop_columns(["query_id"]))
    assert np.diff(without_ids.person_starts).tolist() == [3, 1]
    assert without_ids.entry_ids is None


def test_a_click_later_than_its_query_belongs_to_it():
    table = log(
        client_id=["u", "u"],
        timestamp=pa.array([10, 25], type=pa.timestamp("s")),
        user_query=["debt", "debt"],
        query_id=["1", "1"],
    )
    assert read_people(table).times.tolist() == [10]


def test_files_of_posts_and_logs_come_through_the_ingest_floor(tmp_path):
    pq.write_table(posts([("a", 2000 * WEEK, "x y"), ("b", 2001 * WEEK, "y")]), tmp_path / "posts.parquet")
    (tmp_path / "log.txt").write_text(
        "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
        "1\tdebt help\t2006-03-01 10:00:00\t\t\n1\tdebt help\t2006-03-01 10:00:00\t1\twww.example.com\n"
    )
    with EmbeddedEngine() as opened:
        community = read_people(read_files(opened, [str(tmp_path / "posts.parquet")]).table)
        searchers = read_people(read_files(opened, [str(tmp_path / "log.txt")]).table)
    assert (len(community), community.entries, community.times.tolist()) == (2, 2, [2000 * WEEK, 2001 * WEEK])
    assert (len(searchers), searchers.entries, len(searchers.vocabulary)) == (1, 1, 2)


def test_time_zones_are_taken_off_and_dates_are_midnights():
    table = posts([("a", None, "x")])
    zoned = table.append_column("timestamp", pa.array([3_600_000_000], type=pa.timestamp("us", tz="Europe/Berlin")))
    assert read_people(zoned).times.tolist() == [3600]
    dated = table.append_column("timestamp", pa.array([2], type=pa.date32()))
    assert read_people(dated).times.tolist() == [2 * 86_400]


def test_moments_before_the_origin_have_buckets_too():
    origin = 4 * 86_400
    assert bucket_numbers(np.array([origin - 1, origin, origin + WEEK]), 7).tolist() == [-1, 0, 1]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pa.table({"a": [1]}), "neither a table of community posts nor a search log"),
        (posts([("a", 0, "x")]).slice(0, 0), "there are no entries"),
        (posts([("a", 0, "x"), ("", 0, "x"), (None, 0, "x")]), "2 of 3 entries have no author_id"),
        (posts([("a", None, "x")]).append_column("timestamp", pa.array(["today"])), "holds varchar, not times"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(table, words):
    with pytest.raises(InputError, match=words) as caught:
        read_people(table)
    assert caught.value.hint


def test_without_times_measures_over_time_refuse_and_all_others_work():
    given = [("a", None, " ".join(NAMES[:18])), ("b", None, NAMES[0])]
    people = people_of(given)
    assert people.times is None
    for name, measure in MEASURES.items():
        if measure.needs_times:
            with pytest.raises(ParameterError, match=rf"{name}.*no entry has a time") as caught:
                measure.risk(people, ASKED, MODELS)
            assert "without -t" in caught.value.hint
        else:
            assert measure.risk(people, ASKED, MODELS).shape == (2, len(ASKED))
    with pytest.raises(ParameterError, match="no entry has a time"):
        risks(MEASURES.values(), RiskQuestion(people=people, topics=ASKED, models=MODELS))


def test_a_few_missing_times_are_counted_and_refused_alike():
    table = posts([("a", 0, "x"), ("b", 5, "y"), ("b", 6, "y")])
    table = table.set_column(3, "timestamp", pa.array([0, None, 6], type=pa.timestamp("s")))
    people = read_people(table)
    assert people.times is None
    assert people.facts.entries_without_time == 1
    assert people.alone(1).facts.entries_without_time == 2
    with pytest.raises(ParameterError, match="1 of 3 entries has no time"):
        MEASURES["lda-t"].risk(people, ASKED, MODELS)
    nothing = table.set_column(3, "timestamp", pa.nulls(3))
    assert read_people(nothing).facts.entries_without_time == 3


def test_people_without_words_and_with_one_entry_get_the_least_that_a_measure_gives():
    people = people_of([("a", 0, "..."), ("b", 0, " ".join(NAMES[:18]))])
    for name, measure in MEASURES.items():
        found = measure.risk(people, ASKED, MODELS)
        assert np.isfinite(found).all()
        if "-d" not in name and name != "differential-privacy":
            assert not found[0].any()


def test_a_community_of_one_has_risks():
    people = people_of([("a", 0, " ".join(NAMES[:18]))])
    for measure in MEASURES.values():
        assert np.isfinite(measure.risk(people, ASKED, MODELS)).all()


def test_a_topic_whose_words_nobody_uses_is_refused_by_name():
    people = people_of([("a", 0, NAMES[0])])
    for name in ("bow", "bow-d", "entropy", "differential-privacy"):
        with pytest.raises(ParameterError, match="risk of grief, hiv cannot be measured: nobody uses any"):
            MEASURES[name].risk(people, ("debt", "grief", "hiv"), MODELS)
    with pytest.raises(ParameterError, match="nobody uses any"):
        question = RiskQuestion(people=people, topics=("grief",), models=MODELS)
        risks([MEASURES["bow"]], question)


def test_a_topic_that_a_model_does_not_know_is_refused_or_left_out_of_the_domain():
    strange = SensitiveTopic(name="strange", domain="loss", words=("unheard", "unseen"))
    models = models_of(topics=TopicSet(topics=(*TOPICS, strange)))
    people = people_of([("a", 0, f"{NAMES[10]} unheard")])
    with pytest.raises(ParameterError, match="strange cannot be measured: none of its words has a vector"):
        MEASURES["w2v"].risk(people, ("strange",), models)
    with pytest.raises(ParameterError, match="strange cannot be measured: no latent topic was matched"):
        MEASURES["lda"].risk(people, ("strange",), models)
    for name in ("lda", "w2v"):
        layout = make_space(name, ("grief",), models, people.analyser, domains=True).layout
        assert (layout.left_out, len(layout.domains[0])) == (("strange",), 0)
    assert MEASURES["bow"].risk(people, ("strange",), models).item() == pytest.approx(0.5)


def test_topics_of_stop_words_and_wrong_matches_are_refused():
    analyser = Analyser(stop_words="english")
    topics = TopicSet(topics=(SensitiveTopic(name="stops", words=("the", "of")), *TOPICS))
    people = people_of([("a", 0, NAMES[0])], analyser=analyser)
    for name in ("bow", "entropy"):
        with pytest.raises(ParameterError, match="stops cannot be measured: the analyser words:stop_words=english"):
            MEASURES[name].risk(people, ("stops",), RiskModels(topics=topics))
    wrong = RiskModels(topics=TOPICS, latent=MODELS.latent, dimensions={"debt": 6})
    with pytest.raises(ParameterError, match="debt is matched to latent topic 6, which does not exist"):
        MEASURES["lda"].risk(people_of([("a", 0, NAMES[0])]), ("debt",), wrong)


def test_unknown_topics_are_refused_with_the_nearest():
    people = people_of([("a", 0, NAMES[0])])
    for measure in MEASURES.values():
        with pytest.raises(ParameterError, match="no topic 'dept'") as caught:
            measure.risk(people, ("dept",), MODELS)
        assert "debt" in caught.value.hint
        with pytest.raises(ParameterError, match="no topic was named"):
            measure.risk(people, (), MODELS)


def test_people_are_found_by_name_and_errors_do_not_repeat_it():
    people = people_of([("anna", 0, "x"), ("bert", 0, "y")])
    assert people.find("bert") == 1
    with pytest.raises(ParameterError, match="nobody has that name among 2 people") as caught:
        people.find("carl")
    assert "carl" not in str(caught.value)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        people.alone(2)


def test_texts_on_their_own_become_bags_over_a_growing_vocabulary():
    vocabulary = Vocabulary(["x"])
    bags = bags_of(["y x y", ""], vocabulary, Analyser())
    assert list(vocabulary) == ["x", "y"]
    assert (bags.starts.tolist(), bags.words.tolist(), bags.frequencies.tolist()) == ([0, 2, 2], [0, 1], [1, 2])
    assert engine().threads == 1


def test_people_and_queries_may_be_named_by_numbers():
    table = log(
        client_id=[10, 9, 9],
        timestamp=pa.array([0, 0, 1], type=pa.timestamp("s")),
        user_query=["x", "y", "y"],
        query_id=[1, 2, 2],
    )
    people = read_people(table)
    assert people.ids.to_pylist() == ["10", "9"]
    assert np.diff(people.person_starts).tolist() == [1, 1]
