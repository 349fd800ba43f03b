"""The path that users take, tried for real: the built wheel in fresh environments, outside of the source tree.

Once with all extras and once with none. Packages come from the wheel cache at the locked versions, so no network is
needed; whatever aidos reads from its source tree by mistake, or has not declared, is missing there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from dist import build, source_date
from environment import CONSTRAINTS, wheel_cache

from aidos.errors import DISTRIBUTION

STEPS = (
    "--version",
    "--help",
    "doctor",
    "sample log --size tiny -o log.tsv",
    "check log.tsv",
    "ledger open log.tsv --epsilon 5 --delta 1e-4 -o log.ledger",
    "publish log.tsv --items queries --epsilon 2 --delta 1e-6 --ledger log.ledger --yes -o release",
    "verify release",
)
"""What works with every install."""
NEEDS_EXTRAS = {
    "sample rankings --size tiny -o rankings.parquet": "",
    "fair measure rankings.parquet": "fairness",
    "sample posts --size tiny -o posts.parquet": "",
    "expose compute posts.parquet -o exposure": "exposure",
    "risk topics": "risk",
    "evaluate statistics log.tsv --kinds queries --items-per-person 1 -o results": "studies",
}
"""What works with all extras; without, the extra is named and nothing is written."""


def main() -> int:
    """Build the wheel, and try both installs."""
    with tempfile.TemporaryDirectory(prefix="aidos-installed-") as made:
        place = Path(made)
        build(place, source_date(), "wheel")
        # Versions alone: with a hash in any line pip wants one for the wheel that was built just now, too.
        pinned = re.findall(r"(?m)^([\w.-]+)(?:\[[\w,-]+\])?(==[^\\]+)\\$", CONSTRAINTS.read_text(encoding="utf-8"))
        (place / "versions.txt").write_text("".join(f"{name}{version}\n" for name, version in pinned))
        for extra in ("", "all"):
            aidos = install(place, extra)
            for step in STEPS:
                expect(aidos, step, 0)
            for step, needed in NEEDS_EXTRAS.items():
                refused = not extra and needed
                said = expect(aidos, step, 2 if refused else 0)
                if refused and not re.search(rf'pip install "{DISTRIBUTION}\[[\w,-]*\b{needed}\b', said):
                    raise SystemExit(f"installed: aidos {step} does not say how to get the extra {needed}:\n{said}")
    print("installed: the wheel works with all extras and with none")
    return 0


def install(place: Path, extra: str) -> Path:
    """A fresh environment with the wheel; the command in it."""
    name = f"{DISTRIBUTION}[{extra}]" if extra else DISTRIBUTION
    print(f'installed: pip install "{name}"', flush=True)
    home = place / (extra or "core")
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    offline = ["--no-index", "--find-links", str(wheel_cache()), "--find-links", str(place)]
    # Few of the modules are used here: they are compiled when they are.
    quick = ["--quiet", "--no-compile", *offline]
    pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", *quick]
    # The one package that comes as sources is built with the tools of the cache.
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel_cache())}
    subprocess.run([*pip, "-c", str(place / "versions.txt"), name], check=True, env=environment)
    return home / "bin" / "aidos"


def expect(aidos: Path, step: str, code: int) -> str:
    """Run one command beside its environment; what it said on both streams."""
    home = aidos.parent.parent
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    environment |= {"HOME": str(home), "AIDOS_REGISTRY": str(home / "registry")}
    work = home / "work"
    work.mkdir(exist_ok=True)
    done = subprocess.run(
        [str(aidos), *step.split()], check=False, cwd=work, env=environment, capture_output=True, text=True
    )
    said = done.stdout + done.stderr
    if done.returncode != code or "Traceback" in said:
        raise SystemExit(f"installed: aidos {step} ended with {done.returncode}, not {code}:\n{said}")
    print(f"installed: aidos {step}: exit {code}", flush=True)
    return said


if __name__ == "__main__":
    sys.exit(main())
