"""Sensitive topics: the default set, names that are not quite right, and files that people write by hand."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import InputError, ParameterError
from aidos.model.sensitive import DOMAINS, SensitiveTopic, TopicSet, falling_weights, read_topics, write_topics
from aidos.model.text.analyser import Analyser
from aidos.model.topics import default_taxonomy
from aidos.world.size import World
from aidos.world.vocabulary import build_vocabulary

HEADER = "topic\ttitle\tcategory\tdomain\tsensitive\twords\n"


def test_the_default_has_every_sensitive_topic_with_words_and_those_of_the_sample_world():
    topics, taxonomy = TopicSet.default(), default_taxonomy()
    expected = {topic.id for topic in taxonomy.walk() if topic.words and taxonomy.sensitive_category(topic.id)}
    assert set(topics.names) == expected
    vocabulary = build_vocabulary(World("tiny"))
    assert {vocabulary.topics[number].id for number in vocabulary.sensitive} <= set(topics.names)
    assert {topic.domain for topic in topics} == set(DOMAINS)
    assert all(1 <= len(topic.words) <= 20 and topic.sensitive == 1 and topic.category for topic in topics)
    article_nine = {"origin", "politics", "religion", "trade-union", "genetic", "biometric", "health", "sex-life"}
    assert article_nine | {"orientation", "money", "addiction", "crime", "grief"} <= {t.category for t in topics}


def test_domains_group_related_topics():
    topics = TopicSet.default()
    mind = {topics.names[other] for other in topics.domain_of("depression")}
    assert {"anxiety", "grief", "addiction"} <= mind
    assert not {"depression", "debt", "cancer"} & mind
    assert topics.domains[0] in DOMAINS
    narrow = TopicSet.default(domains="branches")
    assert {narrow.names[other] for other in narrow.domain_of("hiv")} == {
        "sexual-health",
        "sexually-transmitted-infections",
        "contraception",
        "sexual-function",
    }
    assert {narrow[narrow.find(name)].domain for name in ("grief", "funerals")} == {"family"}


def test_a_wrong_name_is_answered_with_the_nearest():
    topics = TopicSet.default()
    assert topics[topics.find("hiv")].name == "hiv"
    with pytest.raises(ParameterError, match="no topic 'depresion'") as caught:
        topics.find("depresion")
    assert caught.value.hint == "the nearest name is depression"
    with pytest.raises(ParameterError) as caught:
        topics.find("Drug and alcohol dependance")
    assert caught.value.hint == "the nearest name is addiction"
    with pytest.raises(ParameterError) as caught:
        topics.find("zzzzzz")
    assert caught.value.hint.startswith("there are ")
    assert topics.select(("hiv", "debt")).names == ("hiv", "debt")


def test_words_become_terms_and_their_weights_add_up():
    pytest.importorskip("Stemmer")
    topic = SensitiveTopic(name="drink", words=("drinking", "the", "drinks", "wine"), weights=(4, 3, 2, 1))
    found = topic.analysed(Analyser(stop_words="english", stemmer="english"))
    assert found == {"drink": 6, "wine": 1}
    assert SensitiveTopic(name="a", words=("b", "c")).weights == falling_weights(2) == pytest.approx((2 / 3, 1 / 3))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "a name is needed"),
        ({"name": "two words"}, "without blanks"),
        ({"domain": " "}, "a domain is needed"),
        ({"title": "a\tb"}, "without tabs"),
        ({"words": ()}, "at least one word"),
        ({"words": ("a", "a")}, "words must differ"),
        ({"words": ("Big",)}, "small letters"),
        ({"words": ("a:1",)}, "without ':'"),
        ({"weights": (1.0,)}, "1 weights for 2 words"),
        ({"weights": (1.0, 0.0)}, "each of weights must be greater than 0"),
        ({"weights": (1.0, float("nan"))}, "each of weights must be finite"),
        ({"sensitive": 1.5}, "sensitive must be at most 1"),
        ({"sensitive": float("nan")}, "finite"),
    ],
)
def test_impossible_topics_are_refused(change, words):
    with pytest.raises(ParameterError, match=words):
        SensitiveTopic(**{"name": "t", "words": ("a", "b"), **change})


def test_sets_need_topics_of_different_names_and_possible_options():
    topic = SensitiveTopic(name="t", words=("a",))
    with pytest.raises(ParameterError, match="more than one has: t"):
        TopicSet(topics=(topic, topic))
    with pytest.raises(ParameterError, match="at least one topic"):
        TopicSet(topics=())
    with pytest.raises(ParameterError, match="words must be at least 1"):
        TopicSet.default(words=0)
    with pytest.raises(ParameterError, match="fields or branches"):
        TopicSet.default(domains="other")


def test_a_taxonomy_of_ones_own():
    own = Taxonomy.of(
        [Topic("all", "", "all"), Topic("x", "all", "X", "odd", words=("Big", "big", "small")), Topic("y", "all", "Y")]
    )
    (topic,) = TopicSet.of_taxonomy(own)
    assert (topic.name, topic.category, topic.domain, topic.words) == ("x", "odd", "other", ("big", "small"))


def test_the_default_survives_its_file(tmp_path):
    topics = TopicSet.default()
    write_topics(topics, tmp_path / "topics.tsv")
    assert read_topics(tmp_path / "topics.tsv") == topics


WORDS = st.lists(st.from_regex(r"[a-zäéß']{1,8}", fullmatch=True), min_size=1, max_size=6, unique=True)
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=8)
PATHS = iter(range(10**9))


@settings(max_examples=40)
@given(st.data())
def test_any_set_survives_its_file(tmp_path_factory, data):
    topics = []
    for number in range(data.draw(st.integers(1, 4))):
        words = data.draw(WORDS)
        given_weights = st.lists(st.floats(1e-6, 1e6), min_size=len(words), max_size=len(words))
        topics.append(
            SensitiveTopic(
                name=f"t{number}",
                words=tuple(words),
                weights=tuple(data.draw(given_weights)) if data.draw(st.booleans()) else (),
                sensitive=data.draw(st.floats(0, 1)),
                title=data.draw(TEXT),
                domain=data.draw(TEXT) or "other",
            )
        )
    path = Path(tmp_path_factory.getbasetemp()) / f"topics-{next(PATHS)}.tsv"
    write_topics(TopicSet(topics=tuple(topics)), path)
    assert read_topics(path).topics == tuple(topics)


def test_all_problems_of_a_file_are_told_with_their_lines_and_without_their_content(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text(
        HEADER
        + "debt\tDebt\tmoney\teconomy\t1\tdebt:0.5 owe:0.2\n"
        + "half\t\t\tother\t1\tsecret:0.5 owe\n"
        + "\n"
        + "much\t\t\tother\tsecret\tword\n"
        + "odd\t\t\tother\t1\tsecret:many\n"
        + "debt\t\t\tother\t1\tword\n"
        + "short\t\t\tother\n"
        + "no\t\t\tother\t1\tSecret\n"
    )
    with pytest.raises(InputError) as caught:
        read_topics(path)
    assert {(problem.kind, problem.lines) for problem in caught.value.problems} == {
        ("missing-weight", (3,)),
        ("bad-number", (5,)),
        ("bad-number", (6,)),
        ("repeated-topic", (7,)),
        ("cell-count", (8,)),
        ("bad-topic", (9,)),
    }
    assert caught.value.message.startswith(f"{path}, line ")
    assert "ecret" not in caught.value.message + "".join(map(str, caught.value.problems))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "columns are missing: topic"),
        (b"topic\twords\n", "columns are missing: title, category, domain, sensitive"),
        (HEADER.encode().strip() + b"\ttopic\n", "columns repeat"),
        (HEADER.encode(), "has no topic"),
        (b"\xff\xfe", "UTF-8"),
        (HEADER.encode() + b'a\t"b\n', "quotation marks"),
    ],
)
def test_files_that_are_none(tmp_path, text, words):
    path = tmp_path / "topics.tsv"
    path.write_bytes(text)
    with pytest.raises(InputError, match=words):
        read_topics(path)
    with pytest.raises(InputError, match="there is no file"):
        read_topics(tmp_path / "absent.tsv")
