"""The report in a browser: opens without complaint, answers to pointer and keys, fits a phone, runs nothing else."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from pegasos import PegasosClassifier, report

HOSTILE = '</script><script>document.title="taken"</script>"><img src=x onerror=document.title="taken">'


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    X, y = load_digits(n_class=3, return_X_y=True)
    X, names = X / 16.0, np.array([HOSTILE, "one", "two"])
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, names[y])
    report.write(model, X, names[y], folder / "many.html", title=HOSTILE, feature_names=[HOSTILE] * 64)
    two = y < 2
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X[two], y[two])
    report.write(model, X[two], y[two], folder / "two.html")
    return folder


@pytest.fixture
def opened(browser, pages):
    """Opens a page, and in the end insists that nothing was complained about and nothing asked of the network."""
    contexts, complaints, requests = [], [], []

    def open_page(name, **settings):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((pages / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith("file:")] == []
    assert len(requests) == len(contexts)


def test_every_chart_is_drawn_and_wide_pages_do_not_scroll_sideways(opened):
    for width in (1280, 390):
        page = opened("many", viewport={"width": width, "height": 800})
        n_charts = page.locator("[data-chart]").count()
        assert n_charts >= 4
        assert page.locator("svg.plot:has(.curve), svg.plot:has(.block)").count() == n_charts
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_hostile_names_are_read_and_do_not_run(opened):
    page = opened("many")
    assert page.title() == " ".join(HOSTILE.split())
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator("img").count() == 0
    assert HOSTILE[:30] in page.locator("#results").inner_text()


def test_colors_follow_the_system_until_the_reader_chooses(opened):
    def paper(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = opened("two", color_scheme="light"), opened("two", color_scheme="dark")
    assert paper(light) != paper(dark)
    light.get_by_role("button", name="Use dark colors").click()
    assert paper(light) == paper(dark)
    light.get_by_role("button", name="Use light colors").click()
    assert paper(light) != paper(dark)


def test_a_log_axis_a_curve_and_a_problem_can_be_chosen(opened):
    page = opened("many")
    chart = page.locator('[data-chart="convergence"]')

    def curves():
        return chart.locator(".curve").evaluate_all("all => all.map(each => each.getAttribute('d')).join()")

    before = curves()
    chart.get_by_role("button", name="log y").click()
    linear = curves()
    assert linear != before
    chart.get_by_role("button", name="dual").click()
    assert chart.locator(".curve").count() == 2
    assert chart.get_by_role("button", name="dual").get_attribute("aria-pressed") == "false"
    chart.get_by_label("Problem").select_option(index=2)
    assert curves() != linear
    chart.get_by_label("Against").select_option("seconds")
    assert "seconds" in chart.locator("svg.plot").inner_html()


def test_values_are_told_to_pointer_and_keys(opened):
    page = opened("two")
    for name, keys in (("convergence", ("gap",)), ("margins", ("0:", "1:")), ("roc", ("true positive rate",))):
        chart = page.locator(f'[data-chart="{name}"]')
        plot, told = chart.locator("svg.plot"), chart.locator("output")
        plot.hover(position={"x": 200, "y": 100})
        assert all(key in told.inner_text() for key in keys)
        page.mouse.move(0, 0)
        assert told.inner_text() == ""
        plot.focus()
        page.keyboard.press("End")
        last = told.inner_text()
        page.keyboard.press("Home")
        assert told.inner_text() not in ("", last)
        page.keyboard.press("Escape")
        assert told.inner_text() == ""


@pytest.mark.slow
def test_the_numbers_of_a_chart_are_there_as_a_table(opened):
    page = opened("two")
    chart = page.locator('[data-chart="margins"]')
    chart.get_by_text("The numbers as a table").click()
    cells = chart.locator("tbody td").all_inner_texts()
    assert sum(map(int, cells)) == np.sum(load_digits(n_class=3).target < 2)
    assert chart.locator("caption").inner_text() == "Histogram of margins"


@pytest.mark.slow
def test_the_weights_of_one_class_are_shown_at_a_time(opened):
    page = opened("many")
    blocks = page.locator('[data-of="features"]')
    assert [blocks.nth(k).is_visible() for k in range(3)] == [True, False, False]
    page.locator("[data-choose]").select_option(index=1)
    assert [blocks.nth(k).is_visible() for k in range(3)] == [False, True, False]


@pytest.mark.slow
def test_without_scripts_everything_but_the_charts_is_there(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((pages / "many.html").as_uri())
    assert page.locator('[data-of="features"]').nth(2).is_visible()
    assert page.get_by_text("which may not run here").is_visible()
    assert page.locator(".headline").is_visible()
    context.close()


# For every element with text of its own: its color against what lies behind it; the least ratio, and where.
CONTRAST = """() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (color) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, below) => below.map((v, i) => (top[i] * top[3] + v * (255 - top[3])) / 255);
  const behind = (e) => {
    const own = rgb(getComputedStyle(e).backgroundColor);
    return own[3] === 255 || !e.parentElement ? own.slice(0, 3) : over(own, behind(e.parentElement));
  };
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const hasText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  let worst = [99, ""];
  for (const e of document.querySelectorAll("body *")) {
    if (!hasText(e) || !e.checkVisibility() || e.closest("script, .tip, .skip")) continue;
    const style = getComputedStyle(e);
    const ink = rgb(e.closest("svg.plot") ? style.fill : style.color).slice(0, 3);
    const [a, b] = [light(ink), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 120)];
  }
  return worst;
}"""


@pytest.mark.slow
def test_text_has_enough_contrast_in_both_schemes(opened):
    for scheme in ("light", "dark"):
        ratio, where = opened("two", color_scheme=scheme).evaluate(CONTRAST)
        assert ratio >= 4.5, where
