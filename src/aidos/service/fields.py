"""Which fields of an engine's documents are searched and shown."""

from __future__ import annotations

from dataclasses import dataclass

from aidos.errors import ParameterError

__all__ = ["Fields"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Names of fields, as the engine knows them."""

    searched: tuple[str, ...] = ("title", "text")
    """The fields that are searched; "title^2" counts twice as much."""
    title: str = "title"
    """The field with the title."""
    text: str = "text"
    """The field of which a snippet is shown."""
    url: str = "url"
    """The field with the address; documents without it have none."""

    def __post_init__(self) -> None:
        """Names are sent in lists that commas and spaces divide, so that none may hold one."""
        if not self.searched:
            raise ParameterError("no field is searched", hint="name at least one")
        if any(
            not name or any(letter in ' ,"' for letter in name)
            for name in (*self.searched, self.title, self.text, self.url)
        ):
            raise ParameterError("a field has a name with a space, a comma or a quote in it, or none at all")
