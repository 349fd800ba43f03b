"""How well a document answers a query: values that can be printed, parsed and compared.

Query likelihood (Ponte and Croft 1998; Zhai and Lafferty 2004) asks how likely the words of the query are under the
language of the document, mixed with the language P(w|C) of all documents so that a missing word is not fatal:

    ql-dirichlet      sum over w in q of  ln( (tf(w,d) + mu P(w|C)) / (|d| + mu) )
    ql-jm             sum over w in q of  ln( (1 - weight) tf(w,d) / |d| + weight P(w|C) )

Every word of the query counts, also one the document lacks. With ``matching_only`` only the words that stand in the
document do, as PISA and Lucene have it, and scores are never negative:

    ql-dirichlet      sum over w in q and d of  max(0, ln(1 + tf(w,d) / (mu P(w|C))) + ln(mu / (|d| + mu)))
    ql-jm             sum over w in q and d of  ln(1 + (1 - weight) tf(w,d) / (weight |d| P(w|C)))

The first is PISA's ``qld``: a document whose every word is clamped to 0 is not returned. Lucene's ``LMDirichlet`` is
the same up to its estimate of P(w|C), which adds one to the count and to the total. BM25 is in the form of Lucene:

    bm25              sum over w in q and d of  idf(w) tf / (tf + k1 (1 - b + b |d| / mean length)),
                      idf(w) = ln(1 + (N - df + 0.5) / (df + 0.5))

which is never negative and leaves out the constant factor k1 + 1 (ATIRE has ln(N / df), and the factor).

A word that the query repeats counts as often as it is repeated. Scores of one query compare documents; they say nothing
across queries, and full and matching forms are on different scales.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Annotated, ClassVar

import annotated_types as at
import numpy as np
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError

__all__ = [
    "BM25",
    "DIRICHLET",
    "DIRICHLET_MATCHING",
    "JELINEK_MERCER",
    "OKAPI",
    "SCORERS",
    "Collection",
    "JelinekMercer",
    "QueryLikelihood",
    "Scorer",
    "parse_scorer",
]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

DIRICHLET, DIRICHLET_MATCHING, JELINEK_MERCER, OKAPI = range(4)
"""How the parts of a score go together, for compiled code."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collection:
    """What a scorer may know of all documents that are not deleted, of all segments together."""

    documents: int
    tokens: int
    """Sum of the lengths."""
    term_counts: Longs
    """How often each term stands in the collection."""
    document_counts: Longs
    """In how many documents each term stands."""

    @property
    def mean_length(self) -> float:
        """Terms of the average document."""
        return self.tokens / self.documents if self.documents else 0.0


@dataclass(frozen=True, slots=True)
class Scorer(ABC):
    """A sum over the words of the query of a part for the match, one for the length, and one for the word alone.

    Compiled code scores from the three functions below; they are all a scorer says about itself.
    """

    name: ClassVar[str] = ""
    """What it is called when printed."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def __str__(self) -> str:
        given = [f"{key}={_print(value)}" for key, value in self._settings().items() if value is not None]
        return f"{self.name}:{','.join(given)}" if given else self.name

    @property
    @abstractmethod
    def form(self) -> int:
        """How the parts go together; see `kernels.matching`."""

    @abstractmethod
    def rates(self, collection: Collection, terms: Longs) -> Floats:
        """For each term what a match is worth: the larger the rarer it is. Terms must stand in the collection."""

    @abstractmethod
    def constants(self, collection: Collection, terms: Longs) -> Floats:
        """For each term what every document gets, whether or not it has the term."""

    @abstractmethod
    def length_parts(self, mean_length: float, lengths: Longs) -> Floats:
        """What the length of a document does, where documents have ``mean_length`` on average."""

    def _settings(self) -> dict[str, float | bool | None]:
        settings: dict[str, float | bool | None] = {field.name: getattr(self, field.name) for field in fields(self)}
        if settings.get("matching_only") is False:
            del settings["matching_only"]
        return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLikelihood(Scorer):
    """Query likelihood with Dirichlet smoothing."""

    name: ClassVar[str] = "ql-dirichlet"

    mu: Annotated[float, at.Gt(0)] | None = None
    """Words that the language of all documents adds to a document; the mean length of a document if unset."""
    matching_only: bool = False
    """Whether only words that stand in the document count, each at least 0, as in PISA and Lucene."""

    @property
    def form(self) -> int:
        return DIRICHLET_MATCHING if self.matching_only else DIRICHLET

    def smoothing(self, mean_length: float) -> float:
        """The mu that is used where documents have that length on average."""
        return self.mu if self.mu is not None else mean_length

    def rates(self, collection: Collection, terms: Longs) -> Floats:
        return collection.tokens / (self.smoothing(collection.mean_length) * collection.term_counts[terms])

    def constants(self, collection: Collection, terms: Longs) -> Floats:
        return np.zeros(len(terms)) if self.matching_only else np.log(collection.term_counts[terms] / collection.tokens)

    def length_parts(self, mean_length: float, lengths: Longs) -> Floats:
        return -np.log1p(lengths / self.smoothing(mean_length))


@dataclass(frozen=True, slots=True, kw_only=True)
class JelinekMercer(Scorer):
    """Query likelihood with Jelinek-Mercer smoothing."""

    name: ClassVar[str] = "ql-jm"

    weight: Annotated[float, at.Gt(0), at.Lt(1)] = 0.1
    """Share of the language of all documents; the rest is the document's."""
    matching_only: bool = False
    """Whether only words that stand in the document count, as in Lucene. Ranks as the full form does."""

    @property
    def form(self) -> int:
        return JELINEK_MERCER

    def rates(self, collection: Collection, terms: Longs) -> Floats:
        return collection.tokens / collection.term_counts[terms].astype(np.float64)

    def constants(self, collection: Collection, terms: Longs) -> Floats:
        if self.matching_only:
            return np.zeros(len(terms))
        return np.log(self.weight * collection.term_counts[terms] / collection.tokens)

    def length_parts(self, mean_length: float, lengths: Longs) -> Floats:  # noqa: ARG002
        return (1 - self.weight) / (self.weight * np.maximum(lengths, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class BM25(Scorer):
    """Okapi BM25 in the form of Lucene."""

    name: ClassVar[str] = "bm25"

    k1: Annotated[float, at.Ge(0)] = 0.9
    """How soon further occurrences stop to count."""
    b: Annotated[float, at.Ge(0), at.Le(1)] = 0.4
    """How much the length of a document counts."""

    @property
    def form(self) -> int:
        return OKAPI

    def rates(self, collection: Collection, terms: Longs) -> Floats:
        found = collection.document_counts[terms]
        return np.asarray(np.log1p((collection.documents - found + 0.5) / (found + 0.5)), dtype=np.float64)

    def constants(self, collection: Collection, terms: Longs) -> Floats:  # noqa: ARG002
        return np.zeros(len(terms))

    def length_parts(self, mean_length: float, lengths: Longs) -> Floats:
        return np.asarray(self.k1 * (1 - self.b + self.b * lengths / mean_length), dtype=np.float64)


SCORERS: Mapping[str, type[Scorer]] = {kind.name: kind for kind in (QueryLikelihood, JelinekMercer, BM25)}
"""Every scorer by the name it prints."""


def parse_scorer(text: str) -> Scorer:
    """The scorer that prints like this: ``ql-dirichlet:mu=50,matching_only=true``."""
    name, _, rest = text.strip().partition(":")
    if name not in SCORERS:
        close = get_close_matches(name, SCORERS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(SCORERS)}"
        raise ParameterError("there is no scorer of that name", hint=hint)
    kind = SCORERS[name]
    known = [field.name for field in fields(kind)]
    settings: dict[str, float | bool] = {}
    for part in filter(None, map(str.strip, rest.split(","))):
        key, equals, value = part.partition("=")
        if key not in known or not equals or key in settings:
            raise ParameterError(
                f"{name} is set by {', '.join(known)}, each at most once", hint=f"write for example {kind()}"
            )
        settings[key] = _truth(key, value) if key == "matching_only" else _number(key, value)
    return kind(**settings)


def _print(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")


def _truth(key: str, value: str) -> bool:
    if value not in {"true", "false"}:
        raise ParameterError(f"{key} must be true or false")
    return value == "true"


def _number(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise ParameterError(f"{key} must be a number") from error
