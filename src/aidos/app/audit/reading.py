"""How a command of the audit room is told to read saved result lists."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cyclopts import Parameter

from aidos.ingest import options

__all__ = ["HowToReadPairs"]


@Parameter(name="*", group="How to read the lists")
@dataclass(frozen=True, slots=True, kw_only=True)
class HowToReadPairs(options.HowToReadPairs):
    """Options of commands that read pairs of result lists and are not grown from a job."""

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
