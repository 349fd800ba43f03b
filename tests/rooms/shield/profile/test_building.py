"""From documents to a profile, by retrieval over the taxonomy that comes with aidos."""

from itertools import repeat

import pytest

from aidos.core.profile import Kind
from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import InputError, ParameterError
from aidos.ingest.history.document import Document
from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.shield.profile import building
from aidos.rooms.shield.profile.building import build_profile

TOPICS = (
    Topic("all", "", "All"),
    Topic("food", "all", "Food", words=("kitchen",)),
    Topic("soup", "food", "Soup", words=("broth",)),
    Topic("bread", "food", "Bread", words=("flour",)),
    Topic("games", "all", "Games"),
    Topic("chess", "games", "Chess", words=("bishop",)),
)


def page(text, kind=Kind.FIREFOX_HISTORY):
    return Document(kind=kind, text=text)


@pytest.fixture(scope="module")
def search():
    return TopicSearch(Taxonomy.of(TOPICS))


def test_documents_are_counted_at_the_topic_they_are_most_about(search):
    texts = ["broth", "soup broth", "bishop", "zzzz"]
    built = build_profile([*map(page, texts), page("flour", Kind.TEXTS)], search)
    assert built.profile.supports == {"soup": 2, "chess": 1, "bread": 1}
    assert (built.documents, built.mapped, built.unmapped, built.rare) == (5, 4, 1, 0)
    assert built.sources == {"firefox-history": 4, "texts": 1}


def test_topics_with_too_few_documents_hand_them_to_the_topic_above(search):
    pages = [*[page("broth")] * 3, page("flour"), page("bishop")]
    assert build_profile(pages, search, least=2).profile.supports == {"soup": 3}
    built = build_profile([*pages, page("kitchen")], search, least=2)
    assert built.profile.supports == {"soup": 3, "food": 2}
    assert (built.mapped, built.rare, built.documents) == (5, 1, 6)


def test_a_stream_in_blocks_gives_what_one_block_gives(search, monkeypatch):
    pages = [page(text) for text in ("broth", "flour", "bishop", "zzzz", "soup chess broth")] * 7
    whole = build_profile(pages, search)
    monkeypatch.setattr(building, "BLOCK", 3)
    assert build_profile(iter(pages), search) == whole


def test_no_more_than_a_block_of_documents_is_ever_held(search, monkeypatch):
    monkeypatch.setattr(building, "BLOCK", 10)
    pulled, mapped = [], []
    real = search.map_texts

    def watched(texts):
        mapped.append(len(texts))
        assert len(pulled) - sum(mapped) == 0
        return real(texts)

    monkeypatch.setattr(search, "map_texts", watched)
    build_profile((pulled.append(at) or page("broth") for at in range(35)), search)
    assert mapped == [10, 10, 10, 5]


def test_documents_of_which_none_has_a_topic_make_no_profile(search):
    for pages, least in (([page("zzzz")], 1), ([page("broth")], 2), ([], 1)):
        with pytest.raises(InputError, match="is about a topic"):
            build_profile(pages, search, least=least)
    with pytest.raises(ParameterError):
        build_profile([page("broth")], search, least=0)


def test_words_of_the_shipped_topics_lead_to_them():
    taxonomy = default_taxonomy()
    search = TopicSearch(taxonomy)
    pages = [page(f"{topic.name} {' '.join(topic.words[:8])}") for topic in taxonomy.leaves()]
    places = search.map_texts([each.text for each in pages])
    right = sum(search.tree.ids[place] == leaf.id for place, leaf in zip(places, taxonomy.leaves(), strict=True))
    assert right > 0.9 * len(pages)
    built = build_profile(pages, search)
    assert built.mapped == len(pages)


def test_a_hundred_thousand_pages_take_seconds(search):
    from time import process_time

    started = process_time()
    built = build_profile(repeat(page("A soup with much broth - the kitchen\nsoups broth lentil"), 100_000), search)
    assert built.mapped == 100_000
    assert process_time() - started < 30
