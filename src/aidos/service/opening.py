"""One line of text names a service: what a command line, a recipe or a settings file holds.

    index:DIR                                          an index of aidos
    sqlite:FILE                                        a file of SqliteFts
    postgres:host=/run/postgresql dbname=news?table=articles&vector=words
    searxng:https://search.example.org
    opensearch:https://search.example.org:9200/articles?fields=title^2,text
    solr:https://search.example.org:8983/solr/articles

Credentials come from the environment alone and are sent to the service that is opened: AIDOS_SERVICE_USER with
AIDOS_SERVICE_PASSWORD, or AIDOS_SERVICE_TOKEN. Lines are written down and shown, so that one with a password in it is
refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import parse_qsl, urlencode

from aidos.errors import ParameterError
from aidos.service.access import Access, Credentials
from aidos.service.base import Fields, SearchService

__all__ = ["open_service"]

Options = dict[str, str]
FIELD_OPTIONS = frozenset({"fields", "title", "text", "url"})


def open_service(text: str, environment: Mapping[str, str] | None = None) -> SearchService:
    """The service that the text names, ready to be searched; ``environment`` is the process's own unless given."""
    kind, colon, rest = text.partition(":")
    known = KINDS.get(kind.strip().lower())
    if not colon or known is None:
        # Not quoted as a whole: it may be an address with a password.
        raise ParameterError(
            "a search service is written KIND:PLACE, and this begins with no kind that is known",
            hint=f"kinds are {', '.join(KINDS)}; such as sqlite:FILE or searxng:https://search.example.org",
        )
    place, _, query = rest.partition("?")
    if not place.strip():
        raise ParameterError(f"{kind}: names no place", hint=f"write {known.form}")
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(options.keys() - known.options)
    if unknown and not (kind == "postgres" and "//" in place):
        allowed = ", ".join(sorted(known.options)) or "none"
        raise ParameterError(f"{kind} has no option {unknown[0]}", hint=f"options are {allowed}")
    return known.start(place.strip(), options, os.environ if environment is None else environment)


@dataclass(frozen=True, slots=True)
class _Kind:
    form: str
    start: Callable[[str, Options, Mapping[str, str]], SearchService]
    options: frozenset[str] = frozenset()


def _index(place: str, _: Options, __: Mapping[str, str]) -> SearchService:
    from aidos.service.embedded import Embedded

    return Embedded.open(Path(place))


def _sqlite(place: str, _: Options, __: Mapping[str, str]) -> SearchService:
    from aidos.service.sqlite_fts import SqliteFts

    return SqliteFts.open(Path(place))


def _postgres(place: str, options: Options, environment: Mapping[str, str]) -> SearchService:
    from aidos.service.postgres import Login, Postgres, TextTable

    ours = {key: value for key, value in options.items() if key in KINDS["postgres"].options}
    theirs = {key: value for key, value in options.items() if key not in ours}
    dsn = f"postgresql:{place}" if place.startswith("//") else place
    login = Login(
        dsn=dsn + (f"?{urlencode(theirs)}" if theirs else ""),
        user=environment.get("AIDOS_SERVICE_USER", ""),
        password=environment.get("AIDOS_SERVICE_PASSWORD", ""),
    )
    return Postgres(login, TextTable(**ours))


def _searxng(place: str, options: Options, environment: Mapping[str, str]) -> SearchService:
    from aidos.service.searxng import SearXNG

    return SearXNG(_access(place, options, environment), language=options.get("language", ""))


def _opensearch(place: str, options: Options, environment: Mapping[str, str]) -> SearchService:
    from aidos.service.opensearch import OpenSearch

    address, _, index = place.rstrip("/").rpartition("/")
    if address.endswith(("/", ":")) or not index:
        raise ParameterError("the index is missing", hint=f"write {KINDS['opensearch'].form}")
    query = cast("Literal['match', 'multi_match', 'simple_query_string']", options.get("query", "multi_match"))
    return OpenSearch(_access(address, options, environment), index=index, fields=_fields(options), query=query)


def _solr(place: str, options: Options, environment: Mapping[str, str]) -> SearchService:
    from aidos.service.solr import Solr

    access = _access(place.rstrip("/"), options, environment)
    return Solr(access, fields=_fields(options), id_field=options.get("id", "id"))


def _access(address: str, options: Options, environment: Mapping[str, str]) -> Access:
    credentials = Credentials(
        user=environment.get("AIDOS_SERVICE_USER", ""),
        password=environment.get("AIDOS_SERVICE_PASSWORD", ""),
        token=environment.get("AIDOS_SERVICE_TOKEN", ""),
    )
    authority = Path(options["authority"]) if "authority" in options else None
    return Access(address=address, credentials=credentials, authority=authority)


def _fields(options: Options) -> Fields:
    given: dict[str, Any] = {key: options[key] for key in ("title", "text", "url") if key in options}
    if "fields" in options:
        given["searched"] = tuple(options["fields"].split(","))
    return Fields(**given)


KINDS: dict[str, _Kind] = {
    "index": _Kind("index:DIR", _index),
    "sqlite": _Kind("sqlite:FILE", _sqlite),
    "postgres": _Kind(
        "postgres:DSN?table=NAME",
        _postgres,
        frozenset({"table", "id", "title", "text", "vector", "language"}),
    ),
    "searxng": _Kind("searxng:https://search.example.org", _searxng, frozenset({"language", "authority"})),
    "opensearch": _Kind(
        "opensearch:https://search.example.org:9200/INDEX", _opensearch, FIELD_OPTIONS | {"query", "authority"}
    ),
    "elasticsearch": _Kind(
        "elasticsearch:https://search.example.org:9200/INDEX", _opensearch, FIELD_OPTIONS | {"query", "authority"}
    ),
    "solr": _Kind("solr:https://search.example.org:8983/solr/CORE", _solr, FIELD_OPTIONS | {"id", "authority"}),
}
