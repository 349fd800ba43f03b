"""The embedded index as a service."""

import pytest

from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.scorers import BM25
from aidos.model.retrieval.search import search
from aidos.model.text.analyser import Analyser
from aidos.service.embedded import Embedded
from aidos.service.opening import open_service

DOCUMENTS = [
    ("a", "repairing a windmill with canvas"),
    ("b", "coffee beside an old windmill and some trees"),
    ("c", "nothing of the kind"),
    ("d", ""),
    ("e", "coffee beside an old windmill and some trees"),
]


@pytest.fixture
def index():
    return Index.build(DOCUMENTS, analyser=Analyser())


def test_results_are_those_of_the_index(index):
    with Embedded(index) as service:
        results = service.search("windmill canvas")
    hits = search(index, "windmill canvas", None, 10)
    assert [(found.object_id, found.score) for found in results] == list(
        zip(hits.ids, hits.scores.tolist(), strict=True)
    )
    assert [(found.object_id, found.position) for found in results] == [("a", 1), ("b", 2), ("e", 3)]
    assert len(Embedded(index).search("windmill", 1)) == 1


def test_another_scorer_can_be_chosen(index):
    plain, other = (Embedded(index, scorer).search("windmill")[0].score for scorer in (None, BM25()))
    assert plain < 0 < other


def test_one_line_opens_a_saved_index(index, tmp_path):
    index.save(tmp_path / "x")
    with open_service(f"index:{tmp_path / 'x'}", {}) as service:
        assert [found.object_id for found in service.search("coffee")] == ["b", "e"]
        assert service.search("zeppelin") == service.search("...") == []
        assert service.name == f"index:{tmp_path / 'x'}"


def test_missing_and_foreign_indexes_are_refused(tmp_path):
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(InputError):
            open_service(f"index:{path}", {})


@pytest.mark.parametrize(("query", "size", "error"), [(" ", 1, InputError), ("a", 0, ParameterError)])
def test_what_cannot_be_asked_is_refused(index, query, size, error):
    with pytest.raises(error):
        Embedded(index).search(query, size)
