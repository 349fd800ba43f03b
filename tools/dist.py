"""What a release consists of, into dist/: wheel, source archive, bill of materials, and the SHA-256 of each.

The same commit gives the same bytes, whenever and wherever it is built: times are those of the commit.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import sbom

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    """Build everything into a directory, dist/ unless given."""
    output = Path(arguments[0]) if arguments else ROOT / "dist"
    shutil.rmtree(output, ignore_errors=True)
    seconds = source_date()
    build(output, seconds)
    (wheel,) = output.glob("*.whl")
    sbom.main([str(output / f"{wheel.name.split('-py3')[0]}.cdx.json"), seconds, digest(wheel)])
    made = sorted(output.iterdir())
    (output / "SHA256SUMS").write_text("".join(f"{digest(path)}  {path.name}\n" for path in made))
    print("\n".join(str(path) for path in sorted(output.iterdir())))
    return 0


def source_date() -> str:
    """When the sources were changed last: said by the caller, by git, or by the time of the changelog's file."""
    if said := os.environ.get("SOURCE_DATE_EPOCH"):
        return said
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    if (ROOT / ".git").exists() and shutil.which("git"):
        return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    return str(int((ROOT / "CHANGELOG.md").stat().st_mtime))


def build(output: Path, seconds: str, *targets: str) -> None:
    """Build the wheel and the source archive with the build backend of the environment."""
    chosen = [part for target in targets for part in ("-t", target)]
    command = [sys.executable, "-m", "hatchling", "build", *chosen, "-d", str(output.resolve())]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": seconds}
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"dist: the build failed\n{done.stderr}")


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
