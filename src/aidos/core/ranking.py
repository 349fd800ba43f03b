"""An ordered list of results."""

from __future__ import annotations

from dataclasses import dataclass

from aidos.errors import ParameterError

__all__ = ["Ranking"]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Results in order, best first, each at most once, with scores that never rise."""

    object_ids: tuple[str, ...]
    scores: tuple[float, ...] = ()
    """One per result, or none at all."""

    def __post_init__(self) -> None:
        try:
            different = len(set(self.object_ids))
        except TypeError as error:
            raise ParameterError("object_ids must be texts", hint="give their ids, not what they hold") from error
        if different != len(self.object_ids):
            raise ParameterError("a ranking holds each result once, this one has duplicates")
        if self.scores and len(self.scores) != len(self.object_ids):
            raise ParameterError(f"{len(self.object_ids)} results but {len(self.scores)} scores")
        if any(not later <= earlier for earlier, later in zip(self.scores, self.scores[1:], strict=False)):
            raise ParameterError("scores must not rise (or be NaN) from one result to the next")

    def __len__(self) -> int:
        return len(self.object_ids)

    def position(self, object_id: str) -> int | None:
        """Where a result stands, counted from 1; None when it is not in the list."""
        return self.object_ids.index(object_id) + 1 if object_id in self.object_ids else None

    def top(self, size: int) -> Ranking:
        """The first ``size`` results."""
        return Ranking(self.object_ids[:size], self.scores[:size])
