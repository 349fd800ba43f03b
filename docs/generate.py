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
from typing import Literal, get_args, get_origin

import aidos
from aidos.jobs.asking import Asked, bare, parameters_of
from aidos.surfaces.cli import grow
from aidos.surfaces.registry import COMMANDS, JOBS, VERBS, find_job

__all__ = ["commands_page", "job_page", "jobs_page", "write_reference"]

EXAMPLES = re.compile(r"(?m)^(?:For example|Examples):\n((?:    .*(?:\n|$))+)")


def write_reference(directory: Path) -> None:
    """Bring the directory up to date: new pages, changed pages, and none of modules that are gone."""
    directory.mkdir(parents=True, exist_ok=True)
    pages = {f"{name}.md": _module_page(name) for name in _module_names()}
    pages["aidos.md"] = _root_page()
    pages["commands.md"] = commands_page()
    pages["jobs.md"] = jobs_page()
    pages |= {f"job-{words.replace(' ', '-')}.md": job_page(words) for words in JOBS}
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


def jobs_page() -> str:
    """Every job, with the page that has its parameters."""
    verbs = {words: verb for verb, words in VERBS.items()}
    rows = "\n".join(
        f"| [{words}](job-{words.replace(' ', '-')}.md) | {_first_paragraph(find_job(words))} "
        f"| {f'`aidos.{verbs[words]}`' if words in verbs else ''} |"
        for words in JOBS
    )
    return f"# Jobs\n\n| job | what it does | in Python |\n| --- | --- | --- |\n{rows}\n"


def job_page(words: str) -> str:
    """One job: what it does, how it is asked, and every parameter with its type, limits and default."""
    job = find_job(words)
    verb = next((verb for verb, asked in VERBS.items() if asked == words), "")
    ways = [f"`aidos {words}` on the command line", f'`job = "{words}"` in a recipe']
    ways += [f"`aidos.{verb}` in Python"] if verb else [f"`{job.__module__}.{job.__name__}` in Python"]
    rows = "\n".join(
        f"| `{each.name}` | {_cell(_limits(each.kind))} | {_cell(_default(each))} | {_cell(each.help)} |"
        for each in parameters_of(job)
    )
    head = f"---\norphan: true\n---\n\n# {words}\n\n{_first_paragraph(job)}\n\nAsked by {', '.join(ways)}.\n"
    return f"{head}\n| parameter | type | default | meaning |\n| --- | --- | --- | --- |\n{rows}\n"


def _default(asked: Asked) -> str:
    if asked.required:
        return "must be given"
    return "" if asked.default in (None, "", ()) else f"`{asked.default}`"


def _limits(kind: object) -> str:
    """A type with the limits beside it: float, greater than 0."""
    plain = bare(kind)
    if get_origin(plain) is Literal:
        name = "one of " + ", ".join(map(str, get_args(plain)))
    else:
        name = plain.__name__ if isinstance(plain, type) and not get_args(plain) else str(plain)
    name = re.sub(r"(?:typing\.|pathlib\.)", "", name)
    name = re.sub(r"Optional\[(.*)\]", r"\1 or None", name)
    limits = [each for each in getattr(kind, "__metadata__", ()) if type(each).__module__ == "annotated_types"]
    words = {"Gt": "greater than", "Ge": "at least", "Lt": "less than", "Le": "at most"}
    told = [f"{words[type(each).__name__]} {next(iter(vars_of(each)))}" for each in limits]
    return ", ".join([name, *told])


def vars_of(limit: object) -> Iterator[object]:
    """The bound of a limit."""
    for name in ("gt", "ge", "lt", "le"):
        if hasattr(limit, name):
            yield getattr(limit, name)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


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
