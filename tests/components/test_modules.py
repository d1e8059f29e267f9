"""Bundling of ES modules: dependency order, each module once, and errors for other forms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bpeviz.components import read
from bpeviz.components.modules import bundle, bundle_all

FILES = {
    "shared/a.js": "export const one = 1;\n",
    "shared/b.js": (
        'import { one } from "./a.js";\n\nexport function two() {\n  return one + one;\n}\n'
    ),
    "view/view.js": 'import { one } from "../shared/a.js";\nimport { two } from "../shared/b.js";\n'
    "\nexport function mount() {\n  return one + two();\n}\n",
}


def write(folder: Path, **changed: str) -> Path:
    """Write modules, some with another text, and return the entry."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(changed.get(path.stem, text), encoding="utf-8")
    return folder / "view" / "view.js"


def test_bundle_has_each_module_once_before_those_that_import_it(tmp_path: Path) -> None:
    script = bundle(write(tmp_path))
    assert "import" not in script
    declared = [line for line in script.splitlines() if line.startswith(("const", "function"))]
    assert declared == [
        *("const { one } = (() => {", "const one = 1;"),
        *("const { two } = (() => {", "function two() {"),
        *("const { mount } = (() => {", "function mount() {"),
    ]


def test_modules_may_have_private_names_in_common(tmp_path: Path) -> None:
    private = 'import { one } from "./a.js";\nconst own = one;\nexport const two = () => own;\n'
    script = bundle(write(tmp_path, a="const own = 2;\nexport const one = own;\n", b=private))
    assert script.count("const own = ") == 2


def test_bundle_all_has_a_shared_module_once(tmp_path: Path) -> None:
    entry = write(tmp_path)
    shared, (view, other) = bundle_all([entry, entry.parent.parent / "shared" / "b.js"])
    assert shared.index("const one") < shared.index("function two")
    assert ("function mount" in view, "two() {" in view, other) == (True, False, "")


def test_bundle_keeps_import_types_in_comments(tmp_path: Path) -> None:
    comment = '/** @param {import("./a.js").One} one */\n'
    assert comment in bundle(write(tmp_path, b=f"{comment}export const two = () => 2;\n"))


@pytest.mark.parametrize(
    "source",
    [
        'import * as a from "./a.js";',
        'import a from "./a.js";',
        'import { one as uno } from "./a.js";',
        'import "./a.js";',
        'const a = await import("./a.js");',
        "export { two };",
        'export * from "./a.js";',
        "export default function () {}",
        "  export const two = 2;",
        "export let three = 3;",
    ],
)
def test_bundle_rejects_other_forms(tmp_path: Path, source: str) -> None:
    entry = write(tmp_path, b=f"export const two = () => 2;\n{source}\n")
    with pytest.raises(ValueError, match=r"b\.js has an unsupported form"):
        bundle(entry)


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("a", "const one = 1;\n", r"a\.js does not export one"),
        ("b", "export const two = 2;\nexport const one = 1;\n", "both export one"),
        ("a", 'import { two } from "./b.js";\nexport const one = 1;\n', "imports itself"),
    ],
)
def test_bundle_rejects_wrong_names_and_cycles(
    tmp_path: Path, name: str, source: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        bundle(write(tmp_path, **{name: source}))


def test_no_change_of_a_text_matches_rules_of_all_around_it() -> None:
    # Chromium would match them anew in each frame that plays or scrolls.
    assert re.findall(r"\.(?:player|text|frame)\S*:has\(", read("player").css) == []
