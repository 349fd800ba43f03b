"""WordNet's graph of nouns, unrolled and with first parents, against paths counted by hand."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError
from aidos.model.taxonomies import reading
from aidos.model.taxonomies.reading import open_taxonomy, read_taxonomy

LICENCE = "  1 Whoever has this file may use it.  \n  2 No warranty.  \n"


def line_of(number, words, parents, gloss="what it means", kind="@"):
    said = " ".join(f"{word} 0" for word in words)
    pointers = "".join(f" {kind} {parent:08d} n 0000" for parent in parents)
    return f"{number:08d} 03 n {len(words):02x} {said} {len(parents) + 1:03d}{pointers} ~ 99999999 n 0000 | {gloss}  \n"


@pytest.fixture
def nouns(tmp_path):
    """A diamond: a sled dog is a working dog and a draught animal, both are animals."""
    path = tmp_path / "data.noun"
    path.write_text(
        LICENCE
        + line_of(1, ["entity"], [])
        + line_of(2, ["working_dog"], [1])
        + line_of(3, ["draught_animal"], [1])
        + line_of(4, ["sled_dog", "sledge_dog"], [3, 2], gloss="a dog that pulls; a b")
        + line_of(5, ["Balto"], [4], kind="@i")
    )
    return path


def parents(taxonomy):
    return {topic.id: topic.parent for topic in taxonomy.walk()}


def test_unrolled_topics_stand_below_each_parent(nouns):
    found = open_taxonomy(nouns.parent)
    assert found.format == "wordnet"
    assert parents(found.taxonomy) == {
        "entity.00000001": "",
        "working_dog.00000002": "entity.00000001",
        "sled_dog.00000004.2": "working_dog.00000002",
        "Balto.00000005.2": "sled_dog.00000004.2",
        "draught_animal.00000003": "entity.00000001",
        "sled_dog.00000004": "draught_animal.00000003",
        "Balto.00000005": "sled_dog.00000004",
    }
    topic = found.taxonomy["sled_dog.00000004"]
    assert (topic.name, topic.words, topic.description) == ("sled dog", ("sledge_dog",), "a dog that pulls; a b")


def test_first_parents_are_the_first_in_the_line(nouns):
    taxonomy = read_taxonomy(nouns, first_parent=True)
    assert len(taxonomy) == 5
    assert taxonomy["sled_dog.00000004"].parent == "draught_animal.00000003"


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 12))
    return [
        draw(st.lists(st.integers(0, at - 1), min_size=1, max_size=3, unique=True)) if at else [] for at in range(size)
    ]


@given(graphs())
def test_as_many_topics_as_ways_down_and_first_parents_keep_their_ids(tmp_path_factory, graph):
    path = tmp_path_factory.mktemp("nouns") / "data.noun"
    path.write_text(
        LICENCE + "".join(line_of(at + 1, [f"w{at}"], [p + 1 for p in above]) for at, above in enumerate(graph))
    )
    ways = []
    for above in graph:
        ways.append(sum(ways[parent] for parent in above) if above else 1)
    unrolled, first = read_taxonomy(path), read_taxonomy(path, first_parent=True)
    copies = Counter(topic.name for topic in unrolled.walk())
    assert [copies[f"w{at}"] for at in range(len(graph))] == ways
    assert all(unrolled[topic.id].parent == topic.parent for topic in first.walk())
    for topic in unrolled.walk():
        number = int(topic.name[1:])
        assert not topic.parent or int(unrolled[topic.parent].name[1:]) in graph[number]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([line_of(1, ["a"], []), line_of(2, ["b"], [9])], "line 4: .*does not have: b.00000002"),
        (
            [line_of(1, ["a"], []), line_of(2, ["b"], [3, 1]), line_of(3, ["c"], [2])],
            "line 4: .*b.00000002, c.00000003",
        ),
        ([line_of(1, ["a"], []), line_of(1, ["a"], [])], "line 4: .*more than once"),
        ([line_of(1, ["a"], []), line_of(2, ["b"], [])], "one root: a.00000001, b.00000002"),
        ([line_of(1, ["a"], []), "00000002 03 n 01 b\n"], "line 4: .*no set of synonyms"),
        ([line_of(1, ["a"], []), "00000002 03 n 01 b 0 001 @ 00000001 n | cut\n"], "line 4: .*no set of synonyms"),
    ],
)
def test_broken_graphs_are_refused_with_line_and_set(tmp_path, lines, words):
    path = tmp_path / "data.noun"
    path.write_text(LICENCE + "".join(lines))
    with pytest.raises(InputError, match=words):
        read_taxonomy(path)


def test_a_cycle_is_found_with_first_parents_too(tmp_path):
    path = tmp_path / "data.noun"
    path.write_text(line_of(1, ["a"], []) + line_of(2, ["b"], [3]) + line_of(3, ["c"], [2]))
    with pytest.raises(InputError, match=r"above and below one another: b\.00000002 > c\.00000003 > b\.00000002"):
        read_taxonomy(path, first_parent=True)


def test_a_graph_that_explodes_is_counted_before_it_is_unrolled(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST", 1000)
    rungs = [line_of(1, ["w1"], [])]
    for at in range(2, 24, 2):
        above = [at - 1, at - 2] if at > 2 else [1]
        rungs += [line_of(at, [f"w{at}"], above), line_of(at + 1, [f"w{at + 1}"], above)]
    path = tmp_path / "data.noun"
    path.write_text("".join(rungs))
    with pytest.raises(InputError, match="unrolls to") as caught:
        read_taxonomy(path)
    assert "--first-parent" in caught.value.hint
    assert len(read_taxonomy(path, first_parent=True)) == 23
