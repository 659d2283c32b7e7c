"""A short film of the playground for the README: ``make film`` writes docs/images/playground.gif.

Chromium takes a picture every few steps; Pillow puts them together.
"""

import io
import os
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "src" / "pegasos" / "playground" / "index.html"
FILM = ROOT / "docs" / "images" / "playground.gif"
SIZE = {"width": 1240, "height": 960}
WIDTH = 760  # of the film

# Sample, settings, and the steps at which a picture is taken.
SCENES = (
    ("clouds", {"algorithm": "pegasos", "kernel": "linear"}, (1, 2, 3, 4, 6, 9, 14, 22, 35, 60, 110, 220, 450, 900)),
    (
        "moons",
        {"algorithm": "dual-ascent", "kernel": "rbf"},
        (1, 4, 10, 25, 50, 90, 150, 240, 360, 600, 1000, 1700, 3000),
    ),
    ("three", {"algorithm": "mini-batch", "kernel": "linear"}, (1, 3, 8, 20, 50, 120, 300, 800, 2000)),
)


def pictures() -> list[Image.Image]:
    """One picture per step of interest."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("The film needs Chromium: apt-get install chromium.")
    flags = ["--disable-gpu"] + (["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else [])
    taken = []
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=browser, args=flags)
        page = chromium.new_page(viewport=SIZE, color_scheme="light")
        page.goto(PAGE.as_uri())
        page.wait_for_selector("html[data-ready]")
        for sample, settings, moments in SCENES:
            page.select_option("#sample", sample)
            for name, value in settings.items():
                page.select_option(f"#{name}", value)
            for moment in moments:
                page.evaluate("until => { while (page.engine.step < until) advance(1); show(); }", moment)
                shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                taken.append(shot.resize((WIDTH, WIDTH * SIZE["height"] // SIZE["width"]), Image.Resampling.LANCZOS))
        chromium.close()
    return taken


def main() -> None:
    """Take the pictures and write the film."""
    taken = pictures()
    # One palette for all of them: that of pictures from every scene.
    stack = Image.new("RGB", (WIDTH, sum(picture.height for picture in taken[::9])))
    for k, picture in enumerate(taken[::9]):
        stack.paste(picture, (0, k * picture.height))
    # Large areas need their exact colors, small marks need colors at all.
    common = stack.quantize(colors=80, method=Image.Quantize.MEDIANCUT).getpalette()[: 3 * 80]
    rare = stack.quantize(colors=112, method=Image.Quantize.MAXCOVERAGE).getpalette()[: 3 * 112]
    palette = Image.new("P", (1, 1))
    palette.putpalette(common + rare)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in taken]
    ends = {sum(len(moments) for *_, moments in SCENES[: k + 1]) - 1 for k in range(len(SCENES))}
    durations = [1800 if k in ends else 450 for k in range(len(frames))]
    frames[0].save(FILM, save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True)
    print(f"{FILM}: {len(frames)} pictures, {FILM.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
