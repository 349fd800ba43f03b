"""What results are about: by a taxonomy, rolled up where topics are rare; learned; or given."""

from dataclasses import replace

import numpy as np
import pytest
from audit_results import ABOVE, TAXONOMY, TOPICS, ask, given_topics, result

from aidos.core.resultpairs import Result
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.audit.auditing import describe_pairs
from aidos.rooms.audit.items import PairItems
from aidos.rooms.audit.topics.latent import LatentTopics
from aidos.rooms.audit.topics.space import GivenTopics
from aidos.rooms.audit.topics.taxonomy import TaxonomyTopics, merge_rows, roll_up

SEARCH = TopicSearch(TAXONOMY)


@pytest.fixture(scope="module")
def items():
    return PairItems.of(ask(np.random.default_rng(5), queries=60))


def topic_of(item):
    return item.url.split("//")[1].split(".")[0]


def test_which_topics_there_are_does_not_depend_on_which_list_is_the_accounts():
    rolled = 0
    for seed in range(20):
        pairs = [
            replace(pair, vanilla=pair.vanilla[:3], personalised=pair.personalised[:3], again=pair.again[:3])
            for pair in ask(np.random.default_rng(seed), queries=10, again=True, rate=0)
        ]
        exchanged = [replace(pair, personalised=pair.again, again=pair.personalised) for pair in pairs]
        one, other = (describe_pairs(each, TaxonomyTopics(SEARCH)).described for each in (pairs, exchanged))
        assert one.space.ids == other.space.ids
        assert [one.maps.row(item).tolist() for item in range(len(one.maps))] == [
            other.maps.row(item).tolist() for item in range(len(other.maps))
        ]
        rolled += not set(one.space.ids) <= set(TOPICS)
    assert rolled >= 5


def test_results_are_about_the_topic_whose_words_they_have(items):
    described = TaxonomyTopics(SEARCH).describe(items.items, items.vanilla)
    assert set(described.space.ids) == set(TOPICS)
    assert described.space.kind == "taxonomy"
    for number, item in enumerate(items.items):
        row = described.maps.row(number)
        assert described.space.ids[int(np.argmax(row))] == topic_of(item)
        assert row.sum() == pytest.approx(1)
    assert described.space.topics[0].words
    assert described.notes == ()


def test_rare_topics_count_for_the_topic_above_and_no_topic_is_lost(items):
    results = list(items.items) + [result("opera", number) for number in range(41, 44)]
    rare = [len(items.items) + number for number in range(3)]
    some = [list(each) for each in items.vanilla]
    without = [[item for item in each if topic_of(results[item]) != "opera"] for each in some]
    without[0].extend(rare)
    described = TaxonomyTopics(SEARCH).describe(results, without)
    assert "opera" not in described.space.ids
    assert "music" in described.space.ids
    assert described.space.ids[int(np.argmax(described.maps.row(rare[0])))] == "music"
    assert any("1 topics stand in too few lists" in note for note in described.notes)


def test_few_lists_leave_the_topics_below_the_root():
    results = [result("jazz", 1), result("asthma", 2)]
    described = TaxonomyTopics(SEARCH).describe(results, [[0, 1], [1, 0]])
    assert described.space.ids == ("music", "health")
    single = TaxonomyTopics(SEARCH).describe(results, [[0], [1]] * 20)
    assert single.space.ids == ("music", "health")


def test_topics_of_an_earlier_audit_are_kept_in_their_order(items):
    described = TaxonomyTopics(SEARCH, only=["sport", "health", "diabetes"]).describe(items.items, items.vanilla)
    assert described.space.ids == ("sport", "health", "diabetes")
    for number, item in enumerate(items.items):
        topic, row = topic_of(item), described.maps.row(number)
        if topic == "diabetes":
            assert row.argmax() == 2
        elif ABOVE[topic] == "music":
            assert row.sum() < 0.5
        else:
            assert described.space.ids[int(row.argmax())] == ABOVE[topic]
    with pytest.raises(InputError, match="1 of 2 topics are not in the taxonomy"):
        TaxonomyTopics(SEARCH, only=["sport", "cooking"])


def test_texts_that_say_nothing_are_counted_and_refused_where_all_are():
    silent = Result(url="https://www.example/1", title="zzzz qqqq")
    described = TaxonomyTopics(SEARCH).describe([result("jazz", 1), silent], [[0, 1]] * 10)
    assert described.notes == ("1 of 2 results are about no topic that is known",)
    assert described.maps.row(1).sum() == 0
    with pytest.raises(InputError, match="no result has a word"):
        TaxonomyTopics(SEARCH).describe([silent], [[0]])


def rolled_plainly(tree, maps, lists, least):
    """The definition in plain Python: level by level, a topic that sets apart too few lists joins its parent."""
    stands = {place: place for place in range(len(tree))}
    depth = [TAXONOMY.depth(topic) for topic in tree.ids]
    for level in range(max(depth), 1, -1):
        for place in [each for each in range(len(tree)) if depth[each] == level]:
            apart = 0
            for items in lists:
                shares = [sum(share for at, share in maps[item].items() if stands[at] == place) for item in items]
                apart += np.var(shares) > 1e-9
            if apart < least:
                stands = {at: int(tree.parents[place]) if to == place else to for at, to in stands.items()}
    return [stands[place] for place in range(len(tree))]


@pytest.mark.parametrize("seed", range(8))
def test_rolling_up_follows_the_definition(seed):
    generator, tree = np.random.default_rng(seed), TopicTree.of(TAXONOMY)
    maps = []
    for _ in range(12):
        places = generator.choice(np.arange(1, len(tree)), 2, replace=False).tolist()
        maps.append(dict(zip(places, generator.choice([0.5, 0.3], 2).tolist(), strict=True)))
    lists = [generator.choice(12, int(generator.integers(1, 5)), replace=False).tolist() for _ in range(14)]
    starts = np.arange(13, dtype=np.int64) * 2
    places = np.array([place for each in maps for place in each], dtype=np.int32)
    shares = np.array([share for each in maps for share in each.values()])
    found = roll_up(tree, (starts, places, shares), lists)
    assert found.tolist() == rolled_plainly(tree, maps, lists, 5)


def test_merged_rows_sum_shares_and_drop_what_has_no_place():
    starts, places, shares = merge_rows(
        np.array([0, 3, 3, 4]), np.array([2, 0, 2, -1], dtype=np.int32), np.array([0.1, 0.2, 0.3, 0.4]), 3
    )
    assert starts.tolist() == [0, 2, 2, 2]
    assert places.tolist() == [0, 2]
    assert shares == pytest.approx([0.2, 0.4])


def test_latent_topics_find_what_goes_together_and_their_model_can_be_used_again(items):
    source = LatentTopics(6, seed=3)
    assert source.model is None
    first = source.describe(items.items, items.vanilla)
    main = [int(np.argmax(first.maps.row(number))) for number in range(len(items.items))]
    pure = 0
    for latent in range(6):
        about = [topic_of(item) for item, found in zip(items.items, main, strict=True) if found == latent]
        pure += max((about.count(topic) for topic in set(about)), default=0)
    assert pure / len(main) > 0.8
    assert first.space.kind == "latent"
    assert all(topic.words and topic.name for topic in first.space.topics)
    assert first.maps.shares.min() >= 0.05
    again = LatentTopics(model=source.model).describe(items.items, items.vanilla)
    assert again.space.ids == first.space.ids
    assert again.maps.shares.tolist() == first.maps.shares.tolist()
    same = LatentTopics(6, seed=3).describe(items.items, items.vanilla)
    assert same.maps.shares.tolist() == first.maps.shares.tolist()


def test_latent_topics_read_other_languages_and_refuse_too_little(items):
    words = [["река", "лодка", "весло"], ["опера", "голос", "сцена"]]
    results = [
        Result(url=f"https://www.example/{number}", title=" ".join(words[number % 2]), snippet=words[number % 2][0])
        for number in range(40)
    ]
    described = LatentTopics(2).describe(results, [[0, 1]])
    main = [int(np.argmax(described.maps.row(number))) for number in range(40)]
    assert len(set(main[::2])) == len(set(main[1::2])) == 1
    assert main[0] != main[1]
    with pytest.raises(InputError, match="too few to learn 50"):
        LatentTopics().describe(results, [[0, 1]])
    with pytest.raises(ParameterError, match="at least 2"):
        LatentTopics(1)
    learned = LatentTopics(2)
    learned.describe(results, [[0, 1]])
    with pytest.raises(InputError, match="no result has a word"):
        LatentTopics(model=learned.model).describe(items.items, items.vanilla)


def test_given_topics_are_taken_as_they_are(items):
    table = {"HTTPS://JAZZ.example/1#x": {"a": 0.7, "b": 0.3, "c": 0.0}, "id-7": {"b": 1.0}}
    results = [result("jazz", 1), Result(url="id-7"), Result(title="unknown")]
    described = GivenTopics(table).describe(results, [[0, 1, 2]])
    assert described.space.ids == ("a", "b")
    assert [described.maps.row(number).tolist() for number in range(3)] == [
        pytest.approx([0.7, 0.3]),
        [0.0, 1.0],
        [0.0, 0.0],
    ]
    assert described.notes == ("1 of 3 results are not in the table of topics",)
    assert given_topics(ask(np.random.default_rng(1), queries=5)).names


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"a": {"b": float("nan")}}, "1 shares"),
        ({"a": {"b": -0.5}}, "1 shares"),
        ({}, "names no topic"),
        ({"a": {"b": 0.0}}, "names no topic"),
    ],
)
def test_bad_tables_are_refused(table, words):
    with pytest.raises(InputError, match=words):
        GivenTopics(table)


def test_a_table_of_other_results_is_refused(items):
    with pytest.raises(InputError, match="none of the results"):
        GivenTopics({"elsewhere": {"a": 1.0}}).describe(items.items, items.vanilla)
