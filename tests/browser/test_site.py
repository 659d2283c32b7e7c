"""The documentation's site in a browser: readable on a phone and in the dark, without scripts that fail."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("index", "tutorial", "how-to-choose", "kernels", "speed", "algorithms/dual-ascent", "theory/certificate",
         "api/modules/pegasos", "learn/the-step", "experiments/index")  # fmt: skip
WIDTHS = {"phone": (390, 844), "desktop": (1440, 900)}

# The texts whose color is too close to their background: WCAG 2.1, AA.
FAINT = """() => {
  const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const luminance = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const rgba = text => { const c = text.match(/[\\d.]+/g).map(Number); return c.length > 3 ? c : [...c, 1]; };
  const over = (a, b) => [0, 1, 2].map(k => a[k] * a[3] + b[k] * (1 - a[3]));
  const faint = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!texts.currentNode.textContent.trim() || !box.width || !box.height || style.visibility == "hidden"
        || element.closest("svg, script, style, .visually-hidden")) continue;
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      const color = rgba(getComputedStyle(each).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] == 1) break;
    }
    let ground = [255, 255, 255];
    for (const color of layers.reverse()) ground = over(color, ground);
    const pair = [luminance(over(rgba(style.color), ground)), luminance(ground)];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) faint.push(`${texts.currentNode.textContent.trim()}: ${ratio.toFixed(2)}`);
  }
  return faint;
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if importlib.util.find_spec("furo") is None:
        pytest.skip("needs the dependency group docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-d", folder / "trees", ROOT / "docs", folder / "html"]
    subprocess.run(command, capture_output=True, check=True)
    return folder / "html"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_are_readable(site, browser, width, scheme):
    size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
    context = browser.new_context(viewport=size, color_scheme=scheme)
    for name in PAGES:
        page, faults = context.new_page(), []
        page.on("pageerror", lambda error, faults=faults: faults.append(str(error)))
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} scrolls sideways"
        assert page.evaluate(FAINT) == [], name
        assert page.locator("h1").count() == 1
        assert page.locator("article img:not([alt])").count() == 0
        assert faults == []
        page.close()
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "page_of"),
    [
        ("regression", "regression"),
        ("multi-label", "multilabel"),
        ("n_jobs", "threads"),
        ("convergence warning", "faq"),
        ("SVC", "migration"),
        ("imbalanced", "imbalance"),
        ("quantile", "regression"),
        ("outlier detection", "novelty"),
        ("partial_fit", "online"),
    ],
)
def test_the_search_finds_the_page_that_people_look_for(site, browser, words, page_of):
    page = browser.new_page()
    page.goto((site / "search.html").as_uri() + f"?q={words.replace(' ', '+')}")
    page.wait_for_function("document.querySelector('.search-summary')?.innerText.includes('finished')", timeout=20_000)
    addresses = [link.get_attribute("href") for link in page.query_selector_all("ul.search li > a")]
    pages = list(dict.fromkeys(address.partition("#")[0].partition("?")[0] for address in addresses))
    assert f"{page_of}.html" in pages[:4]
    page.close()


@pytest.mark.slow
def test_headings_in_the_browser_leave_no_level_out(site, browser):
    page = browser.new_page()
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        levels = page.evaluate("[...document.querySelectorAll('article :is(h1,h2,h3,h4)')].map(h => +h.tagName[1])")
        assert all(below <= above + 1 for above, below in zip([0, *levels], levels, strict=False)), name
    page.close()
