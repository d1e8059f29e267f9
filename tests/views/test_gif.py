"""GIF files have the frames that a browser drew."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

import pytest
from helpers.refusals import refusal
from PIL import Image, ImageDraw

from bpeviz.views import gif


def sent(image: Image.Image, x: int = 0, y: int = 0) -> dict[str, Any]:
    file = BytesIO()
    image.save(file, "PNG")
    return {"x": x, "y": y, "png": base64.b64encode(file.getvalue()).decode()}


def frames(count: int) -> list[dict[str, Any]]:
    whole = Image.new("RGBA", (gif.WIDTH, gif.HEIGHT), "#fffffe")
    ImageDraw.Draw(whole).rectangle((0, 0, 90, 90), fill="#fcd5d3")
    ImageDraw.Draw(whole).point((1_200, 10), fill="#ffffff")  # a rare color like the background
    parts = [sent(Image.new("RGBA", (30, 30), "#1f6feb"), 40 * i, 300) for i in range(1, count)]
    return [sent(whole), *parts]


def test_every_frame_is_shown_in_exact_colors_and_the_last_one_longer() -> None:
    file, count = gif.encoded(frames(5), 0.5)
    with Image.open(BytesIO(file)) as made:
        assert (made.size, made.n_frames, count) == ((gif.WIDTH, gif.HEIGHT), 5, 5)
        for number in range(5):
            made.seek(number)
            assert made.info["duration"] == (500 if number < 4 else 2_000)
            shown = made.convert("RGB")
            assert shown.getpixel((50, 50)) == (0xFC, 0xD5, 0xD3)
            assert shown.getpixel((600, 600)) == (255, 255, 254)
            blue = [shown.getpixel((40 * i + 5, 310)) == (0x1F, 0x6F, 0xEB) for i in range(1, 5)]
            assert blue == [i <= number for i in range(1, 5)]


@pytest.mark.slow
@pytest.mark.parametrize("colored", [0, 2])
def test_colors_of_each_frame_are_exact_also_where_the_others_lack_them(colored: int) -> None:
    noise = [Image.effect_noise((gif.WIDTH, gif.HEIGHT), 90).convert("RGBA") for _ in range(3)]
    noise[colored].paste("#1f6fec", (0, 0, 60, 60))
    file, _ = gif.encoded([sent(frame) for frame in noise], 0.5)
    with Image.open(BytesIO(file)) as animation:
        animation.seek(colored)
        assert animation.convert("RGB").getpixel((30, 30)) == (0x1F, 0x6F, 0xEC)


def test_large_animation_leaves_frames_out_but_not_the_last_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, _ = gif.encoded(frames(8), 0.5)
    monkeypatch.setattr(gif, "MOST_BYTES", len(whole) - 1)
    file, count = gif.encoded(frames(8), 0.5)
    assert len(file) < len(whole)
    assert 1 < count < 8
    with Image.open(BytesIO(file)) as made:
        assert (made.n_frames, made.info["duration"]) == (count, 500 * 8 // count)
        made.seek(count - 1)
        assert made.convert("RGB").getpixel((40 * 7 + 5, 310)) == (0x1F, 0x6F, 0xEB)


@pytest.mark.parametrize("drawn", [[], frames(2) * gif.MOST_FRAMES, [{"x": 0, "y": 0, "png": ""}]])
def test_anything_else_is_refused(drawn: list[dict[str, Any]]) -> None:
    with pytest.raises((ValueError, OSError)):
        gif.encoded(drawn, 0.5)
    for size in ((gif.WIDTH + 1, 1), (1, gif.HEIGHT + 1)):
        refusal(gif.encoded, [sent(Image.new("RGBA", size))], 0.5)
