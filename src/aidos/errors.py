"""Everything aidos raises.

AidosError                 what is wrong, what was found, what to do
├── InputError             the data do not have the promised shape (all problems at once)
├── ParameterError         a mechanism or option was given an impossible value
├── BudgetError            the ledger refuses the spend
├── EngineError            the engine gave up: memory, disk, a cancelled query
├── MissingExtraError      an optional dependency is not installed
├── BrokenPromiseError     aidos caught itself about to break a guarantee
└── ServiceError           a search service did not answer as agreed

Messages never quote a person's data: they name files, lines, columns and counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "DISTRIBUTION",
    "AidosError",
    "BrokenPromiseError",
    "BudgetError",
    "EngineError",
    "InputError",
    "MissingExtraError",
    "ParameterError",
    "Problem",
    "ServiceError",
    "WrongParameter",
    "install_command",
]

LINES_NAMED = 8
"""How many lines of a problem are told."""
DISTRIBUTION = "aidos-search"
"""What pip installs: `aidos` alone belongs to another project on the package index. Import and command stay `aidos`."""


def install_command(extra: str) -> str:
    """What to type to get an extra, or several as pip takes them: ``report,risk``."""
    return f'pip install "{DISTRIBUTION}[{extra}]"'


class AidosError(Exception):
    """What went wrong, and what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]  # what to do is told as the error has it when it is shown
        """What a traceback and a notebook show below the message."""
        return [f"hint: {self.hint}"] if self.hint else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One kind of trouble in one file: what is wrong, where, and what would mend it.

    It never quotes a cell: a shifted column may put somebody's query where a date belongs.
    """

    kind: str
    """A slug: the same trouble has the same slug in every format."""
    file: str
    """The file as the user named it."""
    sentence: str
    """What is wrong, in words that hold for every line named."""
    remedy: str
    """What to do about it."""
    option: str = ""
    """The option to paste that mends it; empty when only the file itself can be mended."""
    column: str = ""
    """The column it is about, by its name in the file."""
    count: int = 1
    """How many rows (or occurrences)."""
    lines: tuple[int, ...] = ()
    """The first few line numbers, counted from 1 as an editor does."""
    place: str = "line"
    """What the numbers count: rows in files that have no lines."""
    rows_can_be_skipped: bool = False
    """Whether ``--skip-bad-rows`` may leave the rows out."""

    def __str__(self) -> str:
        """One line: file, line, what is wrong."""
        where = self.file + (f", {self.place} {self.lines[0]}" if self.lines else "")
        return f"{where}: {self.sentence}"

    def where(self) -> str:
        """How many times, and the first lines: "12 times, on lines 3, 8, 9 and more"."""
        times = "" if self.count == 1 else f"{self.count:,} times"
        named = self.lines[:LINES_NAMED]
        if not named:
            return times
        more = " and more" if self.count > len(named) else ""
        noun = self.place if len(named) == 1 and not more else f"{self.place}s"
        return f"{times}{', on ' if times else 'on '}{noun} {', '.join(map(str, named))}{more}"


class InputError(AidosError):
    """The data do not have the promised shape. Carries every problem that was found."""

    def __init__(self, message: str, *, hint: str = "", problems: Sequence[Problem] = ()) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)

    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]
        """The hint; of several problems each, with what would mend it."""
        if len(self.problems) < 2:
            return super().__notes__
        remedies = (each.remedy + (f": {each.option}" if each.option else "") for each in self.problems)
        return [f"{each}\n  hint: {remedy}" for each, remedy in zip(self.problems, remedies, strict=True)]


@dataclass(frozen=True, slots=True)
class WrongParameter:
    """What is wrong with one parameter: "each of shares must be at most 1"."""

    before: str
    """What stands before its name: "each of ", or nothing."""
    behind: str
    """What is asked of it, and what was found."""
    name: str

    def __str__(self) -> str:
        return f"{self.before}{self.name} {self.behind}"


class ParameterError(AidosError):
    """A mechanism or an option was given an impossible value."""

    def __init__(self, message: str, *, hint: str = "", parameters: Sequence[WrongParameter] = ()) -> None:
        """``parameters`` says for each one what is wrong with it, so that a surface can use its own names for them."""
        super().__init__(message, hint=hint)
        self.parameters = tuple(parameters)


class BudgetError(AidosError):
    """The ledger refuses the spend. All three amounts are (epsilon, delta)."""

    def __init__(
        self,
        message: str,
        *,
        spent: tuple[float, float],
        asked: tuple[float, float],
        left: tuple[float, float],
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.spent = spent
        self.asked = asked
        self.left = left


class EngineError(AidosError):
    """The engine gave up: out of memory, out of disk, a cancelled query."""


class MissingExtraError(AidosError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, *, extra: str) -> None:
        """Name the extra, or several as pip takes them: ``report,risk``."""
        super().__init__(f"{what} needs packages that are not installed", hint=install_command(extra))
        self.extra = extra


class BrokenPromiseError(AidosError):
    """aidos caught itself about to break a guarantee. Nothing was released."""


class ServiceError(AidosError):
    """A search service did not answer as agreed."""
