"""A job: a question that can be asked from Python, a terminal, a recipe, an HTTP request or a form, declared once.

It is a frozen dataclass in its room. Its fields are the parameters, each with a real default, its limits and a
docstring; fields before `KW_ONLY` are what one names without an option. A nested dataclass (a mechanism, the ways to
read files) brings its own fields. `run` needs a `Desk`: what is not part of the question.

What a surface has to know beyond types stands beside them: ``Annotated[Path, Short("-o")]``. These marks know no
surface; each surface makes of them what it can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from aidos.jobs.answer import Answer
from aidos.jobs.desk import Desk

__all__ = [
    "Commas",
    "Instead",
    "Job",
    "Named",
    "Negative",
    "Private",
    "RequiredInTerminal",
    "Section",
    "Several",
    "Short",
]

Given = TypeVar("Given", bound=Answer, covariant=True)


class Job(Protocol[Given]):
    """What can be asked. Its docstring says what for, with examples; it becomes the help of every surface."""

    def run(self, desk: Desk) -> Given:
        """The answer."""
        ...


@dataclass(frozen=True, slots=True)
class Section:
    """Parameters that belong together, under this title: for a nested dataclass."""

    title: str


@dataclass(frozen=True, slots=True)
class Short:
    """A second, short name on the command line: ``-o``."""

    name: str


@dataclass(frozen=True, slots=True)
class Named:
    """Another name on the command line, where that of the field says less or is a word of Python: ``--in``."""

    name: str


@dataclass(frozen=True, slots=True)
class Several:
    """One option takes several values on the command line: ``--agreement ann.csv bob.csv``."""


@dataclass(frozen=True, slots=True)
class Commas:
    """Several values with commas between on the command line: ``--alphas 0,0.5,1``; a list elsewhere."""

    repeated: bool = False
    """Whether the same value may come twice; otherwise it counts once."""


@dataclass(frozen=True, slots=True)
class Negative:
    """The name that says no, for a switch that is on unless given; one that is undecided has ``--no-``."""

    name: str


@dataclass(frozen=True, slots=True)
class Private:
    """Names a person or quotes her: whoever lists processes must not see it, so a terminal may give ``-`` instead."""

    kind: Literal["text", "name", "names"]
    on_page: bool = False
    """Whether the page about it quotes it anyway, so that the command on it may, too."""
    what: str = "the text"
    """What a terminal asks for; a text is read last, after the names that stand before it."""


@dataclass(frozen=True, slots=True)
class RequiredInTerminal:
    """A terminal has no other place for the answer: there it must be given. In Python `Answer.save` does it later."""

    otherwise: str = ""
    """What is told without it, where a switch of the command (`Instead`) does without; else the parser tells it."""


@dataclass(frozen=True, slots=True)
class Instead:
    """A switch of a job's command that asks another job, with the parameters that both have: ``publish --plan``."""

    switch: str
    """Its name, without hyphens."""
    job: str
    """The words of the other job."""
    help: str
    """What it does."""
