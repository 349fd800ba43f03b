"""Writes the pages of the reference from the code: one a module, and one of all commands.

The pages are not kept in the repository; they are written when the documentation is built, and only when they changed.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import aidos
from aidos.app.cli import grow
from aidos.app.registry import COMMANDS

__all__ = ["commands_page", "write_reference"]

EXAMPLES = re.compile(r"(?m)^(?:For example|Examples):\n((?:    .*(?:\n|$))+)")


def write_reference(directory: Path) -> None:
    """Bring the directory up to date: new pages, changed pages, and none of modules that are gone."""
    directory.mkdir(parents=True, exist_ok=True)
    pages = {f"{name}.md": _module_page(name) for name in _module_names()}
    pages["aidos.md"] = _root_page()
    pages["commands.md"] = commands_page()
    for path in directory.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = directory / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def commands_page() -> str:
    """All commands with their options, as ``--help`` tells them."""
    _, *sections = re.split(r"(?m)^## aidos ", grow().generate_docs())
    named = {section.split("\n", 1)[0].strip(): section for section in sections}
    commands = grow(parts=False)
    helps = {command: inspect.getdoc(commands[command].default_command) or "" for command in COMMANDS}
    body = "\n".join(_command_section(command, helps[command], named[command]) for command in COMMANDS)
    return f"# Commands\n\nResults go to stdout, everything else to stderr.\n\n{body}\n"


def _command_section(command: str, told: str, section: str) -> str:
    """One command. Its examples are taken from the docstring: the help formatter joins their lines."""
    found = EXAMPLES.search(told)
    examples = [line.strip() for line in found[1].splitlines()] if found else []
    text = EXAMPLES.sub("", section.partition("\n")[2])
    shown = "For example:\n\n```text\n" + "\n".join(examples) + "\n```\n" if examples else ""
    usage, fence, rest = text.strip().partition("\n```\n")
    usage = usage.replace("```console", "```text")
    return f"## aidos {command}\n\n{usage}{fence}{rest}\n\n{shown}"


def _module_names() -> Iterator[str]:
    """Every module; not ``__main__``, which runs when it is imported."""
    for found in pkgutil.walk_packages(aidos.__path__, f"{aidos.__name__}."):
        if not found.name.endswith(".__main__"):
            yield found.name


def _root_page() -> str:
    """The names at the package root, each with the place where it is described."""
    places = {name: getattr(aidos, name).__module__ for name in aidos.__all__}
    rows = "\n".join(
        f"| `{name}` | {_first_paragraph(getattr(aidos, name))} | [{place}]({place}.md) |"
        for name, place in places.items()
    )
    head = "# aidos\n\n```{eval-rst}\n.. automodule:: aidos\n   :no-members:\n```\n"
    return f"{head}\n| name | what it is | described in |\n| --- | --- | --- |\n{rows}\n"


def _module_page(name: str) -> str:
    module = import_module(name)
    head = f"# {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n```\n"
    inside = list(pkgutil.iter_modules(getattr(module, "__path__", ())))
    if not inside:
        # Only packages stand in the tree of pages: it is drawn beside every page, and long with all modules.
        return f"---\norphan: true\n---\n\n{head}"
    children = [f"{name}.{found.name}" for found in inside]
    rows = "\n".join(f"| [{child}]({child}.md) | {_first_paragraph(import_module(child))} |" for child in children)
    packages = "\n".join(f"{name}.{found.name}" for found in inside if found.ispkg)
    toctree = f"\n```{{toctree}}\n:hidden:\n\n{packages}\n```\n" if packages else ""
    return f"{head}\n| module | what it is |\n| --- | --- |\n{rows}\n{toctree}"


def _first_paragraph(documented: object) -> str:
    """The first paragraph of the docstring, on one line, fit for a table."""
    paragraph = (inspect.getdoc(documented) or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|").replace("``", "`")
