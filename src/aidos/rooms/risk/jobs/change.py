"""The jobs that change a ranking: new posts come in, and whoever is forgotten goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Annotated

from aidos.errors import ParameterError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Private, Section
from aidos.rooms.risk.jobs.options import InRanking, Timeless, told_facts

if TYPE_CHECKING:
    from aidos.report.page import Block

__all__ = ["AddEntries", "EntriesAdded", "EntriesForgotten", "ForgetEntries"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EntriesAdded(Finding):
    """What came of new entries."""

    about: str = "the ranked people"
    entries: int
    already_counted: int
    """Entries that had been counted before, and are not counted again."""
    people_concerned: int
    new_people: int
    people_ranked: int
    computed_again: tuple[str, ...] = ()
    """Measures of third parties, which took all entries."""

    def facts(self) -> Mapping[str, object]:
        """How many entries and people."""
        names = ("entries", "already_counted", "people_concerned", "new_people", "people_ranked")
        return {name: getattr(self, name) for name in names}

    def blocks(self) -> Sequence[Block]:
        """The same."""
        return (told_facts(self.facts()),)

    def remarks(self) -> Sequence[str]:
        """Which measures were computed again."""
        named = ", ".join(self.computed_again)
        return (f"computed again from all entries: {named}",) if named and self.entries else ()


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EntriesForgotten(Finding):
    """What was taken out."""

    about: str = "the ranked people"
    entries_forgotten: int
    people_ranked: int
    """How many are still ranked."""

    def facts(self) -> Mapping[str, object]:
        """How many entries went, and how many people are left."""
        return {"entries_forgotten": self.entries_forgotten, "people_ranked": self.people_ranked}

    def blocks(self) -> Sequence[Block]:
        """The same."""
        return (told_facts(self.facts()),)

    def remarks(self) -> Sequence[str]:
        """What to do where nobody is left."""
        return () if self.people_ranked else ("nobody is left: remove the directory, or add posts",)


@dataclass(frozen=True, slots=True)
class AddEntries(InRanking, Timeless):
    """Take in new posts or queries: all ranks change, and nothing is computed again.

    An entry that was counted already, by its name, is left out; one that comes
    with another text, person or time is refused. Only measures of third
    parties are computed again, from all entries.

    For example:
        aidos risk add new-posts.jsonl --in ranks
    """

    files: tuple[str, ...]
    """New posts or queries: files or glob patterns."""
    _: KW_ONLY
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> EntriesAdded:
        """Count what is new, and write everybody's ranks anew."""
        directory = self.ranking()
        from aidos.rooms.risk.sources import read_entries

        options, timeless = self.how.options(), self.without_times
        with desk.engine() as engine, directory.writing() as store:
            first = store.state.next_entry
            with read_entries(engine, self.files, options, without_times=timeless, first=first).held() as came:
                added = directory.add(store, came)
            return EntriesAdded(
                entries=added.change.entries,
                already_counted=added.repeated,
                people_concerned=len(added.change.people),
                new_people=added.change.new_people,
                people_ranked=len(store.state),
                computed_again=tuple(measure.name for measure in store.state.plan.others),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetEntries(InRanking):
    """Forget a person, or one post: text, numbers and names leave the directory, and the ranks of others change.

    Files are written anew, and the old ones are overwritten. What was made
    from the directory before (pages, overviews, tables of quantiles) is not
    touched, nor are backups; models keep words that many people use.

    For example:
        aidos risk forget --person - --in ranks
        aidos risk forget --post NAME --in ranks
        aidos risk forget --post NAME --person ID --in ranks
    """

    person: Annotated[str | None, Private("name")] = None
    """Who is forgotten, as the posts or the log name her, or - for standard input; with --post, whose post it is."""
    post: Annotated[str | None, Private("name")] = None
    """The one post or query that is forgotten, by its name, or - for standard input."""

    def __post_init__(self) -> None:
        if not self.person and not self.post:
            raise ParameterError("who or what is to be forgotten is missing", hint="give --person ID, or --post NAME")

    def run(self, desk: Desk) -> EntriesForgotten:
        """Take it out of the state first, and of the files after it."""
        directory = self.ranking()
        with desk.engine() as engine, directory.writing() as store:
            gone = directory.forget(store, engine, self.person, self.post)
        return EntriesForgotten(entries_forgotten=gone.entries, people_ranked=gone.people)
