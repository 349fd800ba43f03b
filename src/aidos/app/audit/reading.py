"""How a command of the audit room is told to read saved result lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from cyclopts import Parameter

from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.ingest.results.reading import PairsRead

__all__ = ["HowToReadPairs"]


@Parameter(name="*", group="How to read the lists")
@dataclass(frozen=True, slots=True, kw_only=True)
class HowToReadPairs:
    """Options of commands that read pairs of result lists."""

    vanilla: Sequence[str] = ()
    """Files or directories of lists that were fetched without an account; may be repeated."""

    personalised: Sequence[str] = ()
    """Files or directories of lists that were fetched with the account; may be repeated."""

    again: Sequence[str] = ()
    """Files or directories of second lists without an account, which show the service's own noise; may be repeated."""

    documents: Sequence[str] = ()
    """Files with titles and texts of the documents that TREC runs name; may be repeated."""

    account: str = ""
    """Whose lists, where the files hold those of several accounts."""

    column: Sequence[str] = ()
    """What the files call a column of aidos, for example url=link or account=login; may be repeated."""

    skip_bad_pairs: bool = False
    """Leave out pairs that cannot be read, and say how many."""

    def read(self, names: Sequence[str]) -> PairsRead:
        """The pairs of these files and of those that options name."""
        from aidos.ingest.results.reading import read_pairs

        return read_pairs(
            names,
            vanilla=self.vanilla,
            personalised=self.personalised,
            again=self.again,
            documents=self.documents,
            account=self.account,
            columns=dict(_renamed(text) for text in self.column),
            skip_bad=self.skip_bad_pairs,
        )

    def words(self) -> list[str]:
        """The options as they would be typed; an account is its owner's, and stays hers."""
        found: list[str] = []
        for each in fields(self):
            value = getattr(self, each.name)
            option = f"--{each.name.replace('_', '-')}"
            if value is True:
                found.append(option)
            elif value:
                found += [word for one in ([value] if isinstance(value, str) else value) for word in (option, one)]
        return found


def _renamed(text: str) -> tuple[str, str]:
    ours, equals, theirs = text.partition("=")
    if not (ours and equals and theirs):
        raise ParameterError("--column takes OURS=THEIRS", hint="for example --column url=link")
    return ours, theirs
