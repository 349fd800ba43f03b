"""`aidos shield rules`: take your rules about sites to other search tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from aidos.app.console import Common, show, show_json
from aidos.errors import ParameterError

__all__ = ["PARTS", "export", "rules"]


def rules() -> int:
    """Take your rules about sites to other search tools.

    For example:
        aidos shield rules export rules.toml --format goggles
    """
    raise ParameterError("what to do with the rules is missing: export", hint="see: aidos shield rules --help")


def export(
    file: Path,
    /,
    *,
    form: Annotated[Literal["goggles", "searxng"], Parameter(name="--format")],
    name: str = "My rules",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    common: Common | None = None,
) -> int:
    """Export rules as a Goggle for Brave Search, or as settings of SearXNG.

    The rules are a TOML file: block = ["site"], and under [boost] and
    [downrank] lines such as "site" = 3, with a strength from 1 to 10. SearXNG
    knows no strengths. A Goggle stands at a public address: who finds it reads
    your rules.

    For example:
        aidos shield rules export rules.toml --format goggles -o mine.goggle
        aidos shield rules export rules.toml --format searxng

    Parameters
    ----------
    file
        Your rules.
    form
        goggles or searxng.
    name
        What the Goggle is called.
    output
        The file to write; the terminal unless given.
    """
    from rich.text import Text

    from aidos.app.siterulefile import read_rules
    from aidos.engine.files import write_text
    from aidos.report.values import fit

    common = common or Common()
    read = read_rules(file)
    text = read.as_goggles(fit(name, 100)) if form == "goggles" else read.as_searxng()
    if output is not None:
        write_text(output, text, private=True)
    if common.json:
        show_json({"format": form, "rules": text, "output": None if output is None else str(output)})
    elif output is None:
        show(Text(text.rstrip("\n"), no_wrap=True, overflow="ignore"))
    else:
        show(str(output))
    return 0


PARTS = {"export": export}
