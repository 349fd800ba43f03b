"""The job that forgets members: nothing of theirs is left in any file of the directory."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from aidos.errors import ParameterError
from aidos.jobs.desk import Desk
from aidos.jobs.job import Private
from aidos.rooms.exposure.computing import ChangedCommunity, InExposure, Spilling, room_for
from aidos.rooms.exposure.queries.settings import MEMORY

if TYPE_CHECKING:
    from aidos.rooms.exposure.queries.forgetting import Forgotten

__all__ = ["ForgetMembers", "ForgottenMembers"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ForgottenMembers(ChangedCommunity):
    """What is not there any more."""

    value: Forgotten


@dataclass(frozen=True, slots=True)
class ForgetMembers(InExposure, Spilling):
    """Forget members for good: no text, id, word or row of theirs is left in any file.

    Everything is computed again from the posts that are left, which takes as
    long and as much disk as the first time. Cut off, it leaves what was there,
    or goes on when the directory is used next. What others wrote about a
    member stays.

    For example:
        aidos expose forget - --in exposure < id.txt
        aidos expose forget ID --in exposure
    """

    author_ids: Annotated[tuple[str, ...], Private("names")]
    """The members, as the posts name them, or - for the standard input, one a line."""
    _: KW_ONLY

    def run(self, desk: Desk) -> ForgottenMembers:
        """Forget all of them or none."""
        from aidos.engine.scratch import sweep_scratch
        from aidos.rooms.exposure.queries.forgetting import forget

        if not self.author_ids:
            raise ParameterError("no member is named", hint="name members as the posts do")
        sweep_scratch()
        room, _ = room_for(self.largest_spill, desk, remedy="free some space")
        with desk.engine() as engine:
            found = forget(
                Path(self.directory),
                self.author_ids,
                engine,
                memory=desk.memory or MEMORY,
                threads=desk.threads,
                progress=desk.progress,
                room=room,
            )
        return ForgottenMembers(value=found)
