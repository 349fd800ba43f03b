"""What a manifest says about a release, and whether the files and the promise agree with it.

The manifest names every file with its hash, so that whoever receives the directory can check that nothing was lost or
changed on the way. One function computes guarantee, sentence, composition, noise and thresholds from the recipe, the
public facts, where the noise came from and whether a ledger was charged. A release writes what it gives; `aidos verify`
computes it again from the same four and compares. So nobody can make a release look safer by editing a number.

What it does not show: that the recipe is the one that was run, that the noise was drawn, or that the ledger is whole. A
manifest is not signed: whoever forges all of it consistently is not found out here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from html import unescape
from math import isclose
from pathlib import Path

from aidos import __version__
from aidos.core.guarantee import Guarantee, NoGuarantee, statement
from aidos.core.jsontext import parse_json
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.engine.inputs import open_input, read_bytes, read_text
from aidos.errors import AidosError, InputError
from aidos.jobs.recipe import Recipe, parse_recipe
from aidos.jobs.release import earned
from aidos.rooms.publish.catalogue import build_release
from aidos.rooms.publish.multi import LogRelease

__all__ = [
    "MANIFEST",
    "Stated",
    "contradictions",
    "hash_file",
    "promises",
    "read_manifest",
    "release_problems",
    "series",
    "stated_promise",
    "verify_release",
]

MANIFEST = "MANIFEST.json"
CLOSE = 1e-9
"""How far two computations of one number may be apart, relatively: libraries of mathematics differ in last digits."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a manifest says about a promise."""

    guarantee: Guarantee
    composition: Sequence[tuple[str, Guarantee]]
    """The parts, by kind of item."""
    calibration: Mapping[str, float]

    def facts(self) -> dict[str, object]:
        """As they stand in the manifest."""
        parts = [{"items": kind, "guarantee": _described(part)} for kind, part in self.composition]
        return {
            "guarantee": _described(self.guarantee),
            "statement": statement(self.guarantee),
            "composition": parts,
            "calibration": dict(self.calibration),
        }


def stated_promise(recipe: Recipe, facts: PublicFacts, *, noise_source: str, charged: bool) -> Stated:
    """What is promised for such a release."""
    mechanism = build_release(recipe)
    promised = earned(mechanism.guarantee(facts), repeatable=noise_source != Noise().source, charged=charged)
    # A part promises nothing when the whole does not.
    parts = mechanism.parts() if isinstance(mechanism, LogRelease) and not isinstance(promised, NoGuarantee) else ()
    return Stated(promised, [(kind, part.guarantee(facts)) for kind, part in parts], mechanism.calibration(facts))


def read_manifest(directory: Path) -> dict[str, object]:
    """The manifest of a release, or InputError that says what is wrong with it."""
    path = directory / MANIFEST
    if not path.is_file():
        raise InputError(f"{directory} is no release: it has no {MANIFEST}", hint="name the directory that aidos wrote")
    try:
        manifest = parse_json(read_text(path))
    except ValueError as error:
        raise InputError(f"{path} is damaged: it is not JSON", hint="ask for the release again") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise InputError(f"{path} is not a manifest of aidos: it lists no files", hint="ask for the release again")
    return manifest


def release_problems(directory: Path) -> list[str]:
    """What is wrong with a release: its files, a promise that does not follow, pages that do not repeat it."""
    manifest = read_manifest(directory)
    return verify_release(directory) + (contradictions(manifest) or _silent_files(directory, manifest))


def verify_release(directory: Path) -> list[str]:
    """What of the files does not agree with the manifest, in sentences; empty when everything does."""
    listed = read_manifest(directory)["files"]
    expected = {str(name): about for name, about in listed.items()} if isinstance(listed, dict) else {}
    present = {path.name for path in directory.iterdir()} - {MANIFEST}
    missing = [f"{name} is missing" for name in sorted(expected.keys() - present)]
    strange = [f"{name} is not in the manifest" for name in sorted(present - expected.keys())]
    changed = [
        f"{name} was changed after the release was made"
        for name in sorted(expected.keys() & present)
        if not isinstance(expected[name], dict) or hash_file(directory / name) != expected[name].get("sha256")
    ]
    return missing + strange + changed


def hash_file(path: Path) -> str:
    """What the manifest says of a file's contents."""
    with open_input(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def contradictions(manifest: Mapping[str, object]) -> list[str]:
    """What the manifest says about its promise that does not follow from its recipe, in sentences."""
    written = manifest.get("aidos")
    facts = manifest.get("facts")
    if not isinstance(facts, dict) or series(written) != series(__version__):
        return [f"the promise cannot be computed again: another version of aidos wrote the manifest ({written!s:.20})"]
    try:
        recipe = parse_recipe(str(manifest.get("recipe")))
        people = facts.get("people")
        expected = stated_promise(
            recipe,
            PublicFacts(people=None if people is None else int(people)),
            noise_source=str(manifest.get("noise")),
            charged=bool(manifest.get("ledger")),
        )
    except AidosError as error:
        return [f"the promise cannot be computed again: {error.message}"]
    except (ArithmeticError, TypeError, ValueError):
        return ["the promise cannot be computed again: the recipe or the public facts are damaged"]
    return [
        f"the manifest's {name} is not what its recipe, noise and ledger give"
        for name, value in expected.facts().items()
        if not _same(value, manifest.get(name))
    ]


def promises(manifest: Mapping[str, object], charged: Guarantee) -> bool:
    """Whether the manifest promises what was charged, or nothing: noise from a seed is charged too."""
    noise = str(manifest.get("noise"))
    expected = earned(charged, repeatable=noise != Noise().source, charged=True)
    return _same(_described(expected), manifest.get("guarantee"))


def series(number: object) -> list[str]:
    """Versions that differ in their last number only write alike."""
    return str(number).split(".")[:2]


def _silent_files(directory: Path, manifest: Mapping[str, object]) -> list[str]:
    """The files for people to read that do not repeat the statement."""
    promise = str(manifest.get("statement"))
    present = [directory / name for name in ("README.md", "report.html") if (directory / name).is_file()]
    return [
        f"{path.name} does not say what the manifest promises"
        for path in present
        if promise not in unescape(read_bytes(path).decode("utf-8", "replace"))
    ]


def _described(guarantee: Guarantee) -> dict[str, object]:
    """A guarantee in values that JSON knows, with its kind."""
    values = asdict(guarantee) if is_dataclass(guarantee) else {}
    return {"kind": type(guarantee).__name__, **values}


def _same(expected: object, found: object) -> bool:
    match expected, found:
        case dict(), dict():
            return expected.keys() == found.keys() and all(_same(value, found[key]) for key, value in expected.items())
        case list(), list():
            return len(expected) == len(found) and all(map(_same, expected, found))
        case bool(), _:
            return expected is found
        case int() | float(), int() | float():
            return not isinstance(found, bool) and isclose(expected, found, rel_tol=CLOSE)
        case _:
            return expected == found
