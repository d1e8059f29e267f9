"""A table as an SVG drawing: all of its texts, shades and frames, inside the picture."""

from __future__ import annotations

from xml.etree import ElementTree

from bpeviz.views.table import Cell
from bpeviz.views.table_svg import svg

SVG = "{http://www.w3.org/2000/svg}"


def test_drawing_has_every_text_shade_and_frame_within_its_size() -> None:
    rows = [
        ("<b>&\x00", [Cell("1,234", 0.5), Cell("12", 0, "fewest")]),
        ("語" * 99, [Cell("–"), Cell("5.06 (4.90 to 5.22)", 1)]),
    ]
    drawing = ElementTree.fromstring(
        svg("Tokens of 2 texts", ["Text", "GPT-2", "o200k"], rows, ["A note."])
    )
    width, height = (float(drawing.attrib[name]) for name in ("width", "height"))
    texts = [element.text or "" for element in drawing.iter(f"{SVG}text")]
    for words in ("Tokens of 2 texts", "Text", "GPT-2", "o200k", "1,234", "12", "–", "A note."):
        assert words in texts
    assert any(text.startswith("<b>&") for text in texts)
    assert any(text.startswith("語語") and text.endswith("…") for text in texts)
    assert "Made with bpeviz" in texts[-1]
    for element in drawing.iter(f"{SVG}text"):
        assert 0 < float(element.attrib["x"]) < width
        assert 0 < float(element.attrib["y"]) < height
    rects = [*drawing.iter(f"{SVG}rect")]
    assert [one.get("fill-opacity") for one in rects if one.get("class") == "shade"] == [
        "0.23",
        "0.45",
    ]
    assert len([one for one in rects if one.get("class") == "frame"]) == 1
