"""Stems by the Snowball algorithms (Porter 2001), through PyStemmer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType

from aidos.errors import MissingExtraError, ParameterError

__all__ = ["check_language", "stem_words"]

KEPT = threading.local()
"""A stemmer works for one thread, so each thread has its own."""


def check_language(language: str) -> None:
    """Refuse a language that has no stemmer."""
    known = _snowball().algorithms()
    if language not in known:
        raise ParameterError(f"there is no stemmer called {language!r}", hint=f"choose from {', '.join(known)}")


def stem_words(language: str) -> Callable[[list[str]], list[str]]:
    """The function that stems a list of words of that language."""
    if language not in vars(KEPT):
        check_language(language)
        # Words come here once each, so a memory of its own would only cost time.
        setattr(KEPT, language, _snowball().Stemmer(language, 0))
    stem: Callable[[list[str]], list[str]] = getattr(KEPT, language).stemWords
    return stem


def _snowball() -> ModuleType:
    try:
        import Stemmer
    except ImportError as error:
        raise MissingExtraError("stemming", extra="search") from error
    snowball: ModuleType = Stemmer
    return snowball
