"""One line of text opens a service, or says what is wrong with it."""

import pytest

from aidos.errors import InputError, ParameterError
from aidos.service.opening import open_service
from aidos.service.opensearch import OpenSearch
from aidos.service.searxng import SearXNG
from aidos.service.solr import Solr
from aidos.service.sqlite_fts import SqliteFts


def test_a_file_of_sqlite_is_opened_and_searched(tmp_path):
    path = tmp_path / "x.fts"
    SqliteFts.build([("a", "Windmill", "")], path).close()
    with open_service(f"sqlite:{path}", {}) as service:
        assert [found.object_id for found in service.search("windmill")] == ["a"]
    with pytest.raises(InputError, match="there is no search index"):
        open_service(f"sqlite:{path}x", {})


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("searxng:https://searx.example.org?language=en", SearXNG, "searxng:https://searx.example.org"),
        (
            "opensearch:https://search.example.org:9200/articles",
            OpenSearch,
            "opensearch:https://search.example.org:9200/articles",
        ),
        (
            "elasticsearch:https://search.example.org/es/articles/?fields=title^2,body&query=simple_query_string",
            OpenSearch,
            "opensearch:https://search.example.org/es/articles",
        ),
        (
            "SOLR:http://localhost:8983/solr/articles/?fields=all&id=key&text=all",
            Solr,
            "solr:http://localhost:8983/solr/articles",
        ),
    ],
)
def test_engines_are_made_without_asking_them(text, kind, name):
    with open_service(text, {}) as service:
        assert isinstance(service, kind)
        assert service.name == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "KIND:PLACE"),
        ("windmill", "KIND:PLACE"),
        ("https://me:swordfish@search.example.org", "KIND:PLACE"),
        ("yahoo:swordfish", "KIND:PLACE"),
        ("sqlite:", "no place"),
        ("sqlite: ?", "no place"),
        ("sqlite:x?table=y", "no option table"),
        ("searxng:https://me:swordfish@searx.example.org", "credentials"),
        ("searxng:searx.example.org", "no address"),
        ("searxng:https://searx.example.org?api_key=swordfish", "no option api_key"),
        ("opensearch:https://search.example.org:9200", "index is missing"),
        ("opensearch:https://search.example.org:9200/", "index is missing"),
        ("opensearch:https://search.example.org/a?query=query_string", "query must be"),
        ("opensearch:https://search.example.org/a?fields=", "field"),
        ("solr:https://search.example.org/solr/a?id=", "id"),
        ("postgres:host=x password=swordfish?table=y", "password"),
        ("postgres:postgresql://me:swordfish@db.example.org/x?table=y", "password"),
        ("postgres://me@db.example.org/x?table=y&password=swordfish", "password"),
        ("postgres:host=x?tables=y", "no option tables"),
        ("postgres:host=x?table=", "names"),
    ],
)
def test_lines_that_will_not_do_are_refused_and_secrets_not_repeated(text, words):
    with pytest.raises(ParameterError, match=words) as caught:
        open_service(text, {})
    assert "swordfish" not in str(caught.value) + caught.value.hint


def test_an_address_of_postgres_keeps_the_options_of_libpq():
    with open_service("postgres://me@db.example.org/news?table=articles&sslmode=verify-full", {}) as service:
        assert service.name == "postgres:articles"


def test_credentials_come_from_the_environment(monkeypatch):
    for key in ("AIDOS_SERVICE_USER", "AIDOS_SERVICE_PASSWORD"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("AIDOS_SERVICE_TOKEN", "swordfish")
    open_service("solr:https://solr.example.org/solr/articles").close()
    with pytest.raises(ParameterError, match="readable"):
        open_service("solr:http://solr.example.org/solr/articles")
    with pytest.raises(ParameterError, match="credentials are"):
        open_service("solr:https://solr.example.org/solr/articles", {"AIDOS_SERVICE_USER": "me"})
