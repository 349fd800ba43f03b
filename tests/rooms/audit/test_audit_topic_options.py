"""Options that choose the topics of an audit, and tables of topics."""

import pytest

from aidos.errors import InputError, ParameterError
from aidos.rooms.audit.topics.choice import AboutWhat
from aidos.rooms.audit.topics.latent import LatentTopics
from aidos.rooms.audit.topics.space import GivenTopics, read_topic_maps
from aidos.rooms.audit.topics.taxonomy import TaxonomyTopics


def table(tmp_path, text, name="maps.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_taxonomy_is_usual_and_others_are_chosen_by_options(tmp_path):
    usual = AboutWhat().choose(0)
    assert isinstance(usual.source, TaxonomyTopics)
    assert not usual.learned
    learned = AboutWhat(topics="lda", number=7).choose(3)
    assert isinstance(learned.source, LatentTopics)
    assert (learned.source.number, learned.source.seed) == (7, 3)
    maps = table(tmp_path, "address,topic,share\nhttps://a.example.org,x,1\n")
    assert isinstance(AboutWhat(topic_maps=maps).choose(0).source, GivenTopics)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"topics": "taxonomy", "number": 5}, "--number goes with --topics lda"),
        ({"topics": "lda", "taxonomy": "t.tsv"}, "--taxonomy goes with"),
        ({"topics": "taxonomy", "topic_model": "m.npz"}, "--topic-model goes with"),
        ({"topic_model": "m.npz", "number": 5}, "own number"),
        ({"topic_maps": "m.csv", "topics": "lda"}, "--topic-maps takes the place"),
        ({"topic_maps": "m.csv", "taxonomy": "t.tsv"}, "--topic-maps takes the place"),
        ({"joint": True}, "--joint goes with --topics lda"),
        ({"joint": True, "topics": "lda", "topic_model": "m.npz"}, "--joint learns topics now"),
        ({"same_topics": "d", "topics": "taxonomy"}, "--same-topics takes the place"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        AboutWhat(**options).choose(0)


def test_a_table_of_topics_is_read_by_its_header_in_any_order(tmp_path):
    text = "\ufeffshare,note,Topic,address\n0.5,,x,https://a.example.org/1\n0.25,,y,https://a.example.org/1\n\n1,,x,b\n"
    found = read_topic_maps(table(tmp_path, text))
    assert found == {"https://a.example.org/1": {"x": 0.5, "y": 0.25}, "b": {"x": 1.0}}
    assert read_topic_maps(table(tmp_path, "address\ttopic\tshare\na\tx, y\t1\n", "maps.tsv")) == {"a": {"x, y": 1.0}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("address,topic\na,b\n", "columns are missing: share"),
        ("", "columns are missing: address, topic, share"),
        ("address,topic,share\n", "holds no topics"),
        ("address,topic,share\na,x,1\na,secret,many\n", "line 3: the share is no number"),
        ("address,topic,share\na,x,1.5\n", "line 2: the share is not from 0 to 1"),
        ("address,topic,share\na,x,nan\n", "line 2: the share is not from 0 to 1"),
        ("address,topic,share\n,x,1\n", "line 2: the address or the topic is missing"),
        ("address,topic,share\na,b,c,1\n", "line 2: the header has 3 columns"),
        ('address,topic,share\n"a,x,1\n', "quotation marks do not match"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_place_and_without_its_content(tmp_path, text, words):
    with pytest.raises(InputError, match=words) as caught:
        read_topic_maps(table(tmp_path, text))
    assert "secret" not in f"{caught.value.message}{caught.value.hint}"
    assert caught.value.hint


def test_files_that_are_not_there_or_no_text_are_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_topic_maps(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not in UTF-8"):
        read_topic_maps(tmp_path / "binary.csv")
