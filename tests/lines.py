"""Lines of code of the project, as `test_project.py` states them: no blanks, comments, docstrings.

`python tests/lines.py` prints them beside the stated ones; with `--write`, stated numbers that are
too high are lowered. To raise one, edit it by hand.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STATED_IN = ROOT / "tests" / "test_project.py"

_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_STATED = re.compile(r'^(    "([^"]+)": )([\d_]+),$', re.MULTILINE)


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(path.read_text("utf-8"))


def code_lines(path: Path) -> int:
    """Return the number of lines of a source file that have code."""
    source = path.read_text("utf-8")
    return _python_lines(source, tree(path)) if path.suffix == ".py" else _other_lines(source)


def _python_lines(source: str, tree: ast.Module) -> int:
    """Count lines that are not blank, comments or docstrings; all those of other strings count."""
    docstrings: set[int] = set()
    strings: set[int] = set()
    # Statements alone, unless other strings than docstrings may have several lines: four times
    # as quick as all nodes.
    number = 0
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        for part in (each for _, each in ast.iter_fields(node) if isinstance(each, list)):
            nodes += [each for each in part if isinstance(each, _BLOCKS)]
        body = getattr(node, "body", None)
        for part in body if isinstance(body, list) else ():
            value = part.value if isinstance(part, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docstrings |= {*range(part.lineno, (part.end_lineno or 0) + 1)}
                number += 2
    if source.count('"""') > number:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant | ast.JoinedStr):
                strings |= {*range(node.lineno, (node.end_lineno or 0) + 1)}
    lines = enumerate(source.splitlines(), 1)
    code = {at for at, line in lines if line.strip() and not line.lstrip().startswith("#")}
    return len((code | strings) - docstrings)


def _other_lines(source: str) -> int:
    """Count lines of JavaScript, CSS or HTML."""
    count, in_comment = 0, False
    for line in map(str.strip, source.splitlines()):
        if in_comment or line.startswith("/*"):
            in_comment = "*/" not in line
        elif line and not line.startswith("//"):
            count += 1
    return count


def counted() -> dict[str, int] | None:
    """Return the number for each key of `LINES`, or None outside a git checkout.

    Keys are a folder with all below it, a package, and the modules beside packages. Beside code
    stand the lines of `.mjs` files, and the kilobytes of TOML and JSON.
    """
    command = ["git", "ls-files", "bpeviz", "tests"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    if listed.returncode:
        return None
    counts: Counter[str] = Counter()
    data: Counter[str] = Counter()
    for name in listed.stdout.splitlines():
        path = ROOT / name
        top = name.split("/")[0]
        if not path.exists():
            continue
        if path.suffix in {".py", ".js", ".css", ".html"}:
            lines = code_lines(path)
            counts[top] += lines
            if top == "bpeviz":
                parts = name.split("/")
                counts[f"bpeviz/{parts[1] if parts[2:] else '*.py'}"] += lines
        elif path.suffix == ".mjs":
            counts[f"{top}/*.mjs"] += _other_lines(path.read_text("utf-8"))
        elif path.suffix in {".toml", ".json"}:
            data[f"{top} data, kB"] += path.stat().st_size
    return {**counts, **{key: -(-size // 1000) for key, size in data.items()}}


def main() -> None:
    """Print counted and stated numbers, and lower the stated ones."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="lower stated numbers")
    write = parser.parse_args().write
    numbers = counted() or {}

    def lower(match: re.Match[str]) -> str:
        beginning, key, stated = match.groups()
        number = min(numbers.get(key, 0), int(stated))
        print(f"{numbers.get(key, 0):7,} of {int(stated):7,}  {key}")
        return f"{beginning}{number:_}," if write else match[0]

    source = STATED_IN.read_text("utf-8")
    start = source.index("LINES = {")
    end = source.index("\n}\n", start)
    lowered = _STATED.sub(lower, source[start : end + 1])
    STATED_IN.write_text(source[:start] + lowered + source[end + 1 :], "utf-8")


if __name__ == "__main__":
    main()
