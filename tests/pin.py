"""Write the versions that are installed: `python tests/pin.py`, and with `--upgrade` newer ones.

`uv pip compile --universal` pins what both files of requirements need, for Python 3.11 and newer,
in `.package/constraints.txt`. pip reads this file, and `uv run` the same pins in the header of
`app.py`. pip itself is not pinned: every installation begins with one.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = ROOT / ".package" / "constraints.txt"
REQUIREMENTS = (ROOT / "requirements.txt", ROOT / "tests" / "requirements.txt")
_PINS = re.compile(r"# \[tool\.uv\]\n# constraint-dependencies = \[\n(?:#   .*\n)*# \]\n")


def compiled(files: Sequence[Path], pins: str, *options: str) -> str:
    """Return the pins of requirements, which keep those given unless an option upgrades them."""
    with tempfile.TemporaryDirectory() as folder:
        output, copies = Path(folder) / "constraints.txt", []
        output.write_text(pins, "utf-8")
        for number, file in enumerate(files):
            lines = file.read_text("utf-8").splitlines()
            copies.append(Path(folder) / f"{number}.txt")
            listed = [line for line in lines if not line.startswith("-")]
            copies[-1].write_text("\n".join(listed), "utf-8")
        command = [sys.executable, "-m", "uv", "pip", "compile", "--universal", "--quiet"]
        command += ["--python-version", "3.11", "--no-header", "--no-annotate"]
        command += ["--no-emit-package", "pip", "--output-file", str(output), *options]
        subprocess.run([*command, *map(str, copies)], check=True, stdout=subprocess.DEVNULL)
        return output.read_text("utf-8")


def in_header(pins: str) -> str:
    """Return the lines of the header of `app.py` with the pins."""
    listed = "".join(f'#   "{pin}",\n' for pin in pins.splitlines())
    return f"# [tool.uv]\n# constraint-dependencies = [\n{listed}# ]\n"


def main() -> None:
    """Write the pins in both places."""
    before = CONSTRAINTS.read_text("utf-8") if CONSTRAINTS.exists() else ""
    pins = compiled(REQUIREMENTS, before, *sys.argv[1:])
    CONSTRAINTS.write_text(pins, "utf-8")
    app = ROOT / "app.py"
    source = _PINS.sub("", app.read_text("utf-8"))
    header, end, rest = source.partition("# ///\n")
    app.write_text(f"{header}{in_header(pins)}{end}{rest}", "utf-8")


if __name__ == "__main__":
    main()
