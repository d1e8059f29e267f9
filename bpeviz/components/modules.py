"""Bundles ES modules into one script.

A page would wait for many small requests, and an HTML file has no addresses to import from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

_IMPORT = re.compile(
    r'^import \{\s*(\w+(?:,\s*\w+)*),?\s*\} from "(\.\.?/[\w./]+\.js)";\n', re.MULTILINE
)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
# Any other form; types in comments may import.
_MODULE_SYNTAX = re.compile(
    r"^\s*(?:import|export)\b.*|^(?!\s*(?:/\*|\*|//)).*\bimport\s*\(", re.MULTILINE
)


def bundle(entry: Path) -> str:
    """Return a module and all it imports as one script without imports and exports.

    Raises:
        ValueError: See `scripts_of`.
    """
    return "\n".join(scripts_of(entry).values())


def bundle_all(entries: Sequence[Path]) -> tuple[str, list[str]]:
    """Return the modules that several entries import as one script, and the rest of each.

    Raises:
        ValueError: See `scripts_of`.
    """
    bundles = [scripts_of(entry) for entry in entries]
    uses = Counter(path for scripts in bundles for path in scripts)
    shared = {
        path: script for scripts in bundles for path, script in scripts.items() if uses[path] > 1
    }
    return "\n".join(shared.values()), [
        "\n".join(script for path, script in scripts.items() if path not in shared)
        for scripts in bundles
    ]


def scripts_of(entry: Path) -> dict[Path, str]:
    """Return the scripts of a module and all it imports, without imports and exports.

    A module is a function of its own, which returns its exports. It precedes those that import it,
    and is included once.

    Raises:
        ValueError: A form of `import` or `export` is not supported, a module does not export an
            imported name, two modules export the same name, or modules import each other.
    """
    scripts: dict[Path, str] = {}
    exporting: dict[str, Path] = {}

    def add(path: Path, importing: tuple[Path, ...]) -> None:
        if path in importing:
            raise ValueError(f"{path.name} imports itself through {importing[-1].name}.")
        if path in scripts:
            return
        source = path.read_text(encoding="utf-8")
        for names, address in _IMPORT.findall(source):
            module = (path.parent / address).resolve()
            add(module, (*importing, path))
            for name in re.findall(r"\w+", names):
                if exporting.get(name) != module:
                    raise ValueError(f"{module.name} does not export {name}, used in {path.name}.")
        exported = _EXPORT.findall(source)
        for name in exported:
            if exporting.setdefault(name, path) != path:
                raise ValueError(f"{path.name} and {exporting[name].name} both export {name}.")
        script = _EXPORT.sub("", _IMPORT.sub("", source))
        if unsupported := _MODULE_SYNTAX.search(script):
            raise ValueError(f"{path.name} has an unsupported form: {unsupported[0].strip()}")
        names = ", ".join(exported)
        scripts[path] = f"const {{ {names} }} = (() => {{\n{script}\nreturn {{ {names} }};\n}})();"

    add(entry.resolve(), ())
    return scripts
