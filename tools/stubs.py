"""Write the types of the verbs, ``src/aidos/__init__.pyi``, from the jobs they ask.

    python tools/stubs.py [--check]

An editor completes parameters and shows their defaults from it. With --check nothing is written: the exit code is 1
where the file is not what would be written.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints

from aidos.jobs.asking import bare, parameters_of
from aidos.surfaces.registry import VERBS, jobs_of
from aidos.surfaces.verbs import ANY, any_help, job_of

ROOT = Path(__file__).resolve().parent.parent / "src" / "aidos"
STUB = ROOT / "__init__.pyi"


def written() -> str:
    """The whole file."""
    places = {name.asname or name.name: node.module for node in _type_imports() for name in node.names}
    lines, imports = [], {f"from {module} import {name} as {name}" for name, module in places.items()}
    for verb, words in VERBS.items():
        if words.endswith(ANY):
            lines.append(_any_signature(verb, words.removesuffix(ANY)))
            imports.add("from aidos.jobs.answer import Answer as Answer")
            continue
        job = job_of(verb)
        answer = get_type_hints(job.run)["return"]
        imports.add(f"from {answer.__module__} import {answer.__name__} as {answer.__name__}")
        lines.append(_signature(verb, job, answer))
    imports |= {"from aidos.jobs.desk import Desk as Desk", "from aidos.jobs.inputs import Data as Data"}
    head = ["from pathlib import Path", "from typing import Literal", ""]
    return _formatted("\n".join([*head, *sorted(imports), "", "__version__: str", "", *lines]) + "\n")


def _formatted(text: str) -> str:
    """As ruff has it: imports sorted, quotes, blank lines."""
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["check", "--fix-only", "--quiet"], ["format", "--quiet"]):
        asked = [ruff, *command, "--stdin-filename", STUB, "-"]
        text = subprocess.run(asked, input=text, capture_output=True, text=True, check=True).stdout
    return text


def _type_imports() -> list[ast.ImportFrom]:
    """What the root names for type checkers."""
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return [node for node in block.body if isinstance(node, ast.ImportFrom)]


def _signature(verb: str, job: type[Any], answer: type) -> str:
    positional = [each.name for each in fields(job) if not each.kw_only]
    hints = get_type_hints(job)
    optional = {each.name for each in fields(job) if each.default is not MISSING}
    first = [
        f"{name}: {_spelled(hints[name]) if place or get_origin(hints[name]) is Literal else 'Data'}"
        + (" = ..." if name in optional else "")
        for place, name in enumerate(positional)
    ]
    named = [
        f"{each.name}: {_spelled(bare(each.kind))}" + ("" if each.required else " = ...")
        for each in parameters_of(job)
        if each.name not in positional
    ]
    parts = [*first, *(["/"] if first else []), "*", *named, "desk: Desk | None = ..."]
    summary = inspect.cleandoc(job.__doc__ or "").splitlines()[0]
    inner = "".join(f"    {part},\n" for part in parts)
    return f'def {verb}(\n{inner}) -> {answer.__name__}:\n    """{summary}"""\n'


def _any_signature(verb: str, group: str) -> str:
    names = ", ".join(f'"{name}"' for name in jobs_of(group))
    taken = f"name: Literal[{names}], /, *data: Data, desk: Desk | None = ..., **parameters: object"
    return f'def {verb}({taken}) -> Answer:\n    """{any_help(group).splitlines()[0]}"""\n'


def _spelled(kind: Any) -> str:
    """A type as it is written; a path may be a text, and several values stand in a list or a tuple."""
    text = kind.__name__ if isinstance(kind, type) and not getattr(kind, "__args__", None) else str(kind)
    text = re.sub(r"typing.Union\[(.*)\]", lambda found: found[1].replace(", ", " | "), text)
    text = (
        re.sub(r"typing.Optional\[(.*)\]", r"\1 | None", text)
        .replace("typing.", "")
        .replace("pathlib.", "")
        .replace("NoneType", "None")
    )
    text = text.replace("Path", "str | Path")
    return re.sub(r"tuple\[(.*?), \.\.\.\]", r"list[\1] | tuple[\1, ...]", text)


def main(arguments: list[str]) -> int:
    """Write or check."""
    if "--check" in arguments:
        return int(not STUB.is_file() or STUB.read_text(encoding="utf-8") != written())
    STUB.write_text(written(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
