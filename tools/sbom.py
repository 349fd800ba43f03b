"""The bill of materials (CycloneDX 1.6, JSON) of what `pip install "aidos-search[all]"` brings, at the locked versions.

It is made from the environment, which holds exactly what constraints.txt pins, and from the hashes there. It names
packages by their package URLs and no host. The same environment and the same SOURCE_DATE_EPOCH give the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from aidos.errors import DISTRIBUTION

ROOT = Path(__file__).resolve().parent.parent
SPDX = re.compile(r"[A-Za-z0-9.+-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+-]+)*")


def main(arguments: list[str]) -> int:
    """Write the document to a file: sbom.py OUTPUT SECONDS-SINCE-1970 [WHEEL-SHA256]."""
    output, seconds, *wheel = arguments
    document = bill_of_materials(datetime.fromtimestamp(int(seconds), UTC), wheel[0] if wheel else "")
    Path(output).write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 0


def bill_of_materials(made: datetime, wheel: str = "") -> dict[str, Any]:
    """The whole document; `wheel` is the SHA-256 of the wheel that it stands beside."""
    graph = dependency_graph(DISTRIBUTION, ("all",))
    pinned = pinned_hashes(ROOT / "constraints.txt")
    itself = component(distribution(DISTRIBUTION), {})
    itself["type"] = "application"
    if wheel:
        itself["hashes"] = [{"alg": "SHA-256", "content": wheel}]
    others = [component(distribution(name), pinned) for name in sorted(graph) if name != DISTRIBUTION]
    references = {canonicalize_name(part["name"]): part["bom-ref"] for part in [itself, *others]}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "authors": [{"name": "the aidos contributors"}],
            "lifecycles": [{"phase": "build"}],
            "component": itself,
        },
        "components": others,
        "dependencies": [
            {"ref": references[name], "dependsOn": sorted(references[part] for part in parts)}
            for name, parts in sorted(graph.items())
        ],
    }
    number = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(document, sort_keys=True))
    return {**document, "serialNumber": f"urn:uuid:{number}"}


def dependency_graph(root: str, extras: tuple[str, ...]) -> dict[str, set[str]]:
    """What each package asks for on this system, from the root on; extras are followed."""
    graph: dict[str, set[str]] = {}
    waiting = [(canonicalize_name(root), extras)]
    seen = set()
    while waiting:
        name, asked = waiting.pop()
        if (name, asked) in seen:
            continue
        seen.add((name, asked))
        wanted = list(required(distribution(name), asked))
        graph.setdefault(name, set()).update(part for part, _ in wanted if part != name)
        waiting.extend(wanted)
    return graph


def required(found: Distribution, extras: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What one package asks for on this system, with the extras it asks for."""
    for line in found.requires or []:
        wanted = Requirement(line)
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield canonicalize_name(wanted.name), tuple(sorted(wanted.extras))


def component(found: Distribution, pinned: Mapping[str, list[str]]) -> dict[str, Any]:
    """One package: name, version, licence, and the files that the constraints allow."""
    name = canonicalize_name(found.metadata["Name"])
    address = f"pkg:pypi/{name}@{found.version}"
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": found.version,
        "purl": address,
    }
    if licence := licence_of(found):
        made["licenses"] = [licence]
    if hashes := pinned.get(f"{name}=={found.version}"):
        allowed = [{"alg": "SHA-256", "content": content} for content in hashes]
        comment = "the files of this version that may be installed"
        made["externalReferences"] = [{"type": "distribution", "url": address, "comment": comment, "hashes": allowed}]
    return made


def licence_of(found: Distribution) -> dict[str, Any] | None:
    """What a package says of its licence: an SPDX expression, a short name, or its classifier."""
    expression = found.metadata.get("License-Expression") or ""
    if SPDX.fullmatch(expression):
        return {"expression": expression}
    classifiers = [line for line in found.metadata.get_all("Classifier") or [] if line.startswith("License :: ")]
    name = expression or found.metadata.get("License") or ""
    if not name or len(name.splitlines()) > 1 or len(name) > 80:
        name = classifiers[0].rpartition(" :: ")[2] if classifiers else ""
    return {"license": {"name": name}} if name else None


def pinned_hashes(constraints: Path) -> dict[str, list[str]]:
    """The hashes of every pinned version, by `name==version`."""
    entries = re.split(r"\n(?=[^ \n])", constraints.read_text(encoding="utf-8"))
    pinned = [(re.match(r"([\w.-]+)(?:\[[\w,-]+\])?==([^ ]+)", entry), entry) for entry in entries]
    return {
        f"{canonicalize_name(found[1])}=={found[2]}": re.findall(r"sha256:([0-9a-f]{64})", entry)
        for found, entry in pinned
        if found
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
