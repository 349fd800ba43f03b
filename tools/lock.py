"""Renew constraints.txt: exact versions and hashes of everything that development needs, for every platform.

The file names packages only. Whoever installs uses the index that pip is set up with.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Exact versions and hashes of the development environment. Renew with: make lock\n"


def main() -> int:
    """Resolve pyproject.toml with uv and write the file without any address."""
    # All extras but the peers of benchmarks, which are not pinned.
    groups = ["--extra", "all", "--group", "dev", "--group", "browser"]
    form = ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate", "--upgrade"]
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--quiet", *groups, *form]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("--", "-e", "#"))]
    (ROOT / "constraints.txt").write_text(HEADER + "\n".join(lines) + "\n")
    print(f"constraints.txt: {sum('==' in line for line in lines)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
