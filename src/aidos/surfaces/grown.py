"""A command grown from a job: its fields are the options, its docstring the help, and one printer shows every answer.

Nothing here knows a room. The marks of `aidos.jobs.job` become what the parser calls them; they are put beside the
types of the job's fields when the command is first needed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from copy import copy
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

from cyclopts import Group, Parameter, Token

from aidos.core.noise import Noise
from aidos.errors import ParameterError
from aidos.jobs.answer import Answer
from aidos.jobs.asking import bare, made_of
from aidos.jobs.desk import Desk
from aidos.jobs.job import Commas, Job, Named, Negative, Private, RequiredInTerminal, Section, Several, Short
from aidos.surfaces.bars import TerminalProgress
from aidos.surfaces.console import CONVERTERS, Common, ask, read_text, show, show_json, tell
from aidos.surfaces.registry import find_job, places

__all__ = ["TYPED", "by_recipe", "grow_command", "in_options", "tell_answer"]

TYPED: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())
"""The command as it was typed, while it runs."""
RECIPE = "A recipe's file, in place of the options of the mechanism."


def grow_command(job: type[Job[Answer]]) -> Callable[..., int]:
    """The function of a job's command."""

    def command(
        question: Any, *, recipe: Path | None = None, instead: bool = False, common: Common | None = None
    ) -> int:
        common = common or Common()
        question = job() if question is None else _undressed(question)
        question = question if recipe is None else by_recipe(question, recipe)
        question = _other(question) if instead else _whole(question)
        return tell_answer(question.run(_desk(common, question)), common)

    command.job = job  # type: ignore[attr-defined]
    command.__doc__ = job.__doc__
    dressed: Any = _dressed(job)
    if not any(each.default is MISSING and each.default_factory is MISSING for each in fields(job)):  # type: ignore[arg-type]
        command.__defaults__ = (None,)  # nothing need be given, so there may be nothing to make it of
        dressed = dressed | None
    command.__annotations__ = {
        "question": Annotated[dressed, Parameter(name="*")],
        "recipe": Annotated[Path | None, Parameter(help=RECIPE)],
        "instead": Annotated[bool, _switch(job)],
        "common": Common | None,
        "return": int,
    }
    has_recipe = hasattr(job, "recipe_for") or hasattr(job, "with_recipe")
    lacking = {"recipe": not has_recipe, "instead": not hasattr(job, "instead")}
    whole = signature(command)
    taken = [each for each in whole.parameters.values() if not lacking.get(each.name)]
    command.__signature__ = whole.replace(parameters=taken)  # type: ignore[attr-defined]
    return command


def _switch(job: type) -> Parameter:
    other = getattr(job, "instead", None)
    return Parameter() if other is None else Parameter(name=f"--{other.switch}", help=other.help)


def _other(question: Any) -> Any:
    """The question that a switch of the command asks in place of this one, with what both have."""
    other = find_job(question.instead.job)
    return other(**{each.name: getattr(question, each.name) for each in fields(other)})


def _whole(question: Any) -> Any:
    """The question, if nothing is lacking that a terminal cannot do without and that the parser did not ask for."""
    for name, hint in get_type_hints(type(question), include_extras=True).items():
        for mark in getattr(hint, "__metadata__", ()):
            if isinstance(mark, RequiredInTerminal) and mark.otherwise and getattr(question, name) is None:
                words = next(words for words in places() if find_job(words) is type(question))
                raise ParameterError(mark.otherwise, hint=f"see: aidos {words} --help")
    return question


def by_recipe(question: Any, path: Path) -> Any:
    """The question with its mechanism as the recipe has it; options for the mechanism beside it are refused.

    A job that takes recipes of several kinds says itself what becomes of them: `with_recipe`.
    """
    from aidos.jobs.recipe import fill_parameters, name_of, read_recipe

    if hasattr(question, "with_recipe"):
        return question.with_recipe(read_recipe(path), path)
    given = getattr(question, question.recipe_for)
    if given != type(given)():
        raise ParameterError("a recipe takes the place of the other options", hint="change the recipe instead")
    recipe, name = read_recipe(path), name_of(type(given))
    if recipe.mechanism != name:
        hint = "see: aidos publish --help"
        raise ParameterError(f"{path} is a recipe for {recipe.mechanism}, not for {name}", hint=hint)
    return replace(question, **{question.recipe_for: fill_parameters(name, type(given), recipe.parameters)})


def tell_answer(answer: Answer, common: Common) -> int:
    """Show an answer, for people or for machines; give the command's exit code."""
    from aidos.report.terminal import blocks_shown

    if common.json:
        show_json(answer.facts())
    else:
        for each in blocks_shown(answer.blocks()):
            show(each)
        for remark in answer.remarks():
            tell(remark, quiet=common.quiet)
    return answer.exit_code


def in_options(error: ParameterError) -> str:
    """What is wrong with parameters, in the words of the command line: ``--quality-floor must be at most 1, got 2``."""
    if not error.parameters:
        return error.message
    return "; ".join(str(replace(each, name=_option(each.name))) for each in error.parameters)


def _option(name: str) -> str:
    """A parameter as it is typed; one that has another name there brings it along."""
    return name if name.startswith("-") else "--" + name.replace("_", "-")


def _desk(common: Common, question: Any) -> Desk:
    return Desk(
        memory=common.memory,
        threads=common.threads,
        progress=TerminalProgress(quiet=common.quiet),
        noise=Noise(),
        remark=lambda words: tell(words, quiet=common.quiet),
        ask=ask,
        asked=shlex.join(["aidos", *_without_quotations(list(TYPED.get()), question)]),
    )


def _without_quotations(words: list[str], question: Any) -> list[str]:
    """The command as it was typed, without texts that a page would otherwise keep: they are read with ``-``."""
    marked = [name for name, mark in _texts(type(question)).items() if not mark.on_page]
    for text in filter(None, (getattr(question, name) for name in marked)):
        words = ["-" if word == text else re.sub(f"={re.escape(text)}$", "=-", word) for word in words]
    return words


@cache
def _dressed(spec: type) -> type:
    """A dataclass as the parser takes it: the same fields, the parser's words beside their types, and no checks."""
    hints = get_type_hints(spec, include_extras=True)
    words: dict[str, Any] = {}
    twins: dict[str, Any] = {}
    # A base class may have put its options before the files.
    for each in sorted(fields(spec), key=lambda one: one.kw_only is True):
        kind, marks = bare(hints[each.name]), getattr(hints[each.name], "__metadata__", ())
        twin: Any = copy(each)
        twins[each.name] = twin
        said: dict[str, Any]
        if nested := next((part for part in (kind, *get_args(kind)) if is_dataclass(part)), None):
            title = next((mark.title for mark in marks if isinstance(mark, Section)), None)
            dressed = _dressed(cast("type", nested))
            if nested is twin.default_factory:
                twin.default_factory = dressed  # the parser compares a default with its type
            kind, said = dressed if nested is kind else dressed | None, {"name": "*"}
            if title:
                said["group"] = _panel(title)
        else:
            said = {"show_default": _shown(each.default), **_parameter(each.name, marks)}
            if commas := [mark for mark in marks if isinstance(mark, Commas)]:
                converter = _with_commas(each.name, kind, repeated=commas[0].repeated)
                said |= {"converter": converter, "show_default": _shown(each.default, ",")}
            if choices := _choices(kind):
                called = said.get("name", ["--" * bool(each.kw_only) + each.name.replace("_", "-")])[0]
                said["converter"] = _one_of(called, choices)
            if kind == bool | None:
                said = {"negative": "--no-" + each.name.replace("_", "-"), **said}
        words[each.name] = Annotated[kind, Parameter(**said)]
    # The parser reads these too, and a base class may stand in another module, where other names are known.
    spec.__init__.__annotations__.update({name: hints[name] for name in words})  # type: ignore[misc]
    body: dict[str, Any] = {"__annotations__": words, "__module__": spec.__module__, "__qualname__": spec.__qualname__}
    body |= {"__doc__": spec.__doc__, "__dataclass_fields__": twins, "_bare": spec, "__post_init__": _unchecked}
    return type(spec.__name__, (spec,), body)


@cache
def _panel(title: str) -> Group:
    """A panel of the help: what is asked comes first, then how files are read; what every command has is last."""
    return Group(title, sort_key=2 if title.startswith("How to read") else 1)


def _shown(default: object, between: str = ", ") -> bool | Callable[[Iterable[object]], str]:
    """Whether help tells a default, and how."""
    if default is MISSING or default in (None, "", (), False):
        return False
    return (lambda values: between.join(map(_word, values))) if isinstance(default, tuple) else True


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _with_commas(name: str, kind: Any, *, repeated: bool) -> Callable[[Any, Sequence[Token]], tuple[object, ...]]:
    """What makes values of a text with commas between, each once unless they may be repeated."""
    make = next((number for number in (int, float) if bare(get_args(kind)[0]) is number), str)

    def convert(_: Any, tokens: Sequence[Token]) -> tuple[object, ...]:
        words = [word.strip() for token in tokens for word in token.value.split(",")]
        try:
            made = [make(word) for word in words if word]
            return tuple(made if repeated else dict.fromkeys(made))
        except ValueError as error:
            option, text = f"--{name.replace('_', '-')}", ",".join(token.value for token in tokens)
            raise ParameterError(f"{option} takes numbers with commas between, got {text!r}") from error

    return convert


def _choices(kind: Any) -> tuple[str, ...]:
    """The words of which one is taken, where that is so."""
    alone = next((part for part in (kind, *get_args(kind)) if get_origin(part) is Literal), None)
    return get_args(alone) if get_origin(kind) is not tuple and alone is not None else ()


def _one_of(name: str, choices: tuple[str, ...]) -> Callable[[Any, Sequence[Token]], str]:
    """What refuses another word as the job would."""

    def convert(_: Any, tokens: Sequence[Token]) -> str:
        word = tokens[-1].value
        if word not in choices:
            raise ParameterError(f"{name} must be one of {', '.join(choices)}, got {word!r}")
        return word

    return convert


def _unchecked(_: object) -> None:
    """Checked when the real one is made of it."""


def _undressed(value: Any) -> Any:
    """The question itself, of what the parser made; whatever is wrong with its parameters is told here."""
    if not hasattr(type(value), "_bare"):
        return value
    made = {each.name: _undressed(getattr(value, each.name)) for each in fields(value)}
    for name, mark in _texts(type(value)).items():
        made[name] = made[name] and read_text(made[name], mark.what)
    try:
        return made_of(type(value)._bare, made)
    except ParameterError as error:
        # In the words of who asked: a parameter may have another name on the command line.
        named = {name: mark.name for name, mark in _marks(type(value)) if isinstance(mark, Named)}
        broken = [replace(each, name=named.get(each.name, each.name)) for each in error.parameters]
        raise ParameterError(error.message, hint=error.hint, parameters=broken) from error


def _texts(spec: type) -> dict[str, Private]:
    """Fields that quote somebody."""
    return {name: mark for name, mark in _marks(spec) if isinstance(mark, Private) and mark.kind == "text"}


def _marks(spec: type) -> Iterator[tuple[str, object]]:
    hints = get_type_hints(getattr(spec, "_bare", spec), include_extras=True)
    return ((name, mark) for name, hint in hints.items() for mark in getattr(hint, "__metadata__", ()))


def _parameter(name: str, marks: tuple[object, ...]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for mark in sorted(marks, key=lambda each: isinstance(each, Short)):
        match mark:
            case Named(other):
                given["name"] = [other]
            case Short(short):
                given["name"] = [*given.get("name", [_option(name)]), short]
            case Several():
                given["consume_multiple"] = True
            case Negative(negative):
                given["negative"] = negative
            case RequiredInTerminal(otherwise=""):
                given["required"] = True
            case Private(kind):
                given |= {"allow_leading_hyphen": True, "converter": CONVERTERS[kind]}
            case _:
                pass
    return given
