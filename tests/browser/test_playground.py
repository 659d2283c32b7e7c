"""The playground in a browser: its steps are the library's; it answers to pointer, touch and keys."""

import json

import numpy as np
import pytest

import pegasos
from pegasos import PegasosClassifier, playground
from pegasos.kernels import RBF, Polynomial
from pegasos.online import KernelPerceptron, Norma, PassiveAggressive, Perceptron
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.stepping import _plan
from pegasos.theory import suboptimality_bound
from tests.browser.test_report import CONTRAST

N_STEPS = 150
DEFAULTS = {
    "algorithm": "pegasos", "kernel": "linear", "sampling": "shuffle", "lam": 0.02, "gamma": 3.0, "degree": 3,
    "batch": 5, "size": 0.3, "seed": 7,
}  # fmt: skip

# Takes steps one by one, and tells everything about each of them.
RUN = """([points, codes, settings, nSteps]) => {
  const engine = playground.engine, told = [];
  engine.begin(points.flat(), codes, settings);
  for (let t = 0; t < nSteps; t++) {
    engine.advance(1);
    engine.look();
    told.push({ step: engine.step, eta: engine.eta, drawn: engine.drawn, problems: engine.problems().map(
      (p) => ({ ...p, coefficients: [...p.coefficients], alpha: [...p.alpha] })) });
  }
  return JSON.stringify(told);
}"""


def make_points(n_classes=2, n=60):
    random = np.random.default_rng(3)
    y = np.arange(n) % n_classes
    X = random.normal(scale=0.4, size=(n, 2)) + 0.5 * np.c_[np.cos(2.5 * y), np.sin(2.5 * y)]
    return np.round(X, 4), y


@pytest.fixture
def opened(browser):
    """Opens the page, and in the end insists that nothing was complained about and nothing asked of the network."""
    contexts, complaints, requests = [], [], []

    def open_page(link="", **settings):
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 1000}, **settings})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(playground.page().as_uri() + link)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


def run(page, X, y, n_steps=N_STEPS, **settings):
    return json.loads(page.evaluate(RUN, [X.tolist(), y.tolist(), DEFAULTS | settings, n_steps]))


def near(seen, expected):
    np.testing.assert_allclose(seen, expected, rtol=1e-12, atol=1e-12)


def assert_equal_steps(told, steps, *, has_alpha):
    for seen, step in zip(told, steps, strict=True):
        mine = seen["problems"][0]
        assert seen["step"] == step.number
        assert set(seen["drawn"]) == set(step.rows.tolist())
        first = [seen["drawn"].index(row) for row in step.rows]
        near(np.array(mine["margins"])[first], step.margins)
        assert np.array(mine["violated"])[first].tolist() == step.violated.tolist()
        if step.eta is not None:
            near(seen["eta"], step.eta)
        if step.coef is not None:
            near(mine["weights"], [*step.coef, step.intercept])
        else:
            near(sum(mine["coefficients"]), step.intercept)
        if has_alpha:
            near(mine["alpha"], step.alpha)
            near([mine["primal"], mine["dual"]], [step.primal, step.dual])


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_steps_of_pegasos_are_those_of_the_library(opened, kernel):
    page, (X, y) = opened(), make_points()
    violated = []
    of_library = {"linear": None, "rbf": RBF(3.0), "polynomial": Polynomial(3, gamma=3.0, coef0=1.0)}[kernel]
    for settings, parameters in (
        ({}, {}),
        ({"sampling": "uniform"}, {"sampling": "uniform"}),
        ({"sampling": "sequential"}, {"sampling": "sequential"}),
        ({"algorithm": "mini-batch", "seed": 0}, {"batch_size": 5, "seed": 0}),
        ({"algorithm": "projected", "lam": 0.3}, {"projection": True, "lam": 0.3}),
    ):
        told = run(page, X, y, kernel=kernel, **settings)
        wanted = {"lam": 0.02, "seed": 7, "kernel": of_library, "n_steps": N_STEPS, "objectives": True} | parameters
        assert_equal_steps(told, pegasos.steps(X, y, **wanted), has_alpha=True)
        violated += [any(one["problems"][0]["violated"]) for one in told]
    assert 100 < sum(violated) < len(violated) - 100


@pytest.mark.parametrize(
    ("settings", "learner"),
    [
        ({"algorithm": "perceptron"}, Perceptron("last")),
        ({"algorithm": "passive-aggressive"}, PassiveAggressive(C=0.3)),
        ({"algorithm": "perceptron", "kernel": "rbf"}, KernelPerceptron("rbf", gamma=3.0)),
        ({"algorithm": "norma", "kernel": "rbf"}, Norma("rbf", gamma=3.0, eta=0.3, lam=0.02, tau=None)),
        ({"algorithm": "norma"}, Norma("linear", eta=0.3, lam=0.02, tau=None)),
    ],
)
def test_steps_of_online_learners_are_those_of_the_library(opened, settings, learner):
    X, y = make_points()
    told = run(opened(), X, y, **settings)
    steps = list(pegasos.steps(X, y, learner, seed=7, n_steps=N_STEPS))
    if settings == {"algorithm": "norma"}:  # the library has no weights of kernel learners
        near(sum(told[-1]["problems"][0]["coefficients"]), steps[-1].intercept)
        assert [one["drawn"] for one in told] == [step.rows.tolist() for step in steps]
    else:
        assert_equal_steps(told, steps, has_alpha=False)


def test_the_average_is_the_mean_of_the_iterates(opened):
    X, y = make_points()
    told = run(opened(), X, y, algorithm="averaged")
    iterates = np.array([[*s.coef, s.intercept] for s in pegasos.steps(X, y, lam=0.02, seed=7, n_steps=N_STEPS)])
    before = np.vstack([np.zeros(3), iterates[:-1]])
    means = np.cumsum(before, axis=0) / np.arange(1, N_STEPS + 1)[:, None]
    near([one["problems"][0]["weights"] for one in told], means)


def test_dual_ascent_makes_the_visits_of_the_library(opened):
    X, y = make_points()
    told = run(opened(), X, y, algorithm="dual-ascent", n_steps=4 * len(y))
    problem, _, seed = _plan(PegasosClassifier(lam=0.02, random_state=7), X, y)
    ascent = DualAscent()
    state = ascent.start(problem, seed)
    for visit, seen in enumerate(told, start=1):
        if (visit - 1) % len(y) == 0:
            state.recall_all_rows()
        ascent.advance_to(problem, state, visit)
        near(seen["problems"][0]["alpha"], state.alpha)
    last = told[-1]["problems"][0]
    assert last["dual"] <= PegasosClassifier(lam=0.02, tol=1e-6).fit(X, y).certificate_.primal
    assert last["bestPrimal"] - last["bestDual"] < 0.02 * last["bestPrimal"]


def test_several_classes_are_fitted_one_against_the_rest(opened):
    X, y = make_points(n_classes=3)
    told = run(opened(), X, y, n_steps=2 * len(y))
    with pytest.warns(Warning, match="gap"):
        model = PegasosClassifier(lam=0.02, solver="pegasos", max_iter=2, random_state=7).fit(X, y)
    near([one["weights"][:2] for one in told[-1]["problems"]], model.coef_)
    near([one["weights"][2] for one in told[-1]["problems"]], model.intercept_)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_the_exact_solution_lies_in_the_ball_and_settled_places_keep_their_class(opened, kernel):
    """Against a much better solution: it lies in every ball, and decides settled places as the center does."""
    page, (X, y) = opened(), make_points()
    for algorithm in ("pegasos", "averaged", "perceptron", "dual-ascent"):
        look = """([points, codes, settings, nSteps, size]) => {
          const engine = playground.engine;
          engine.begin(points.flat(), codes, settings);
          for (let t = 0; t < nSteps; t++) engine.advance(1), engine.look();
          return [[...engine.scores(0, true, size, 1.25)], engine.problem(0).radius, [...engine.norms(size, 1.25)]];
        }"""
        settings = DEFAULTS | {"kernel": kernel}
        center, radius, norms = page.evaluate(
            look, [X.tolist(), y.tolist(), settings | {"algorithm": algorithm}, 400, 24]
        )
        exact, finest, _ = page.evaluate(
            look, [X.tolist(), y.tolist(), settings | {"algorithm": "dual-ascent"}, 60_000, 24]
        )
        apart = np.abs(np.subtract(center, exact))
        assert finest < 0.05 * radius or algorithm == "dual-ascent"
        assert (apart <= (radius + finest) * np.array(norms) + 1e-9).all()
    assert (apart > 0.0).any()


def test_grids_have_the_scores_of_the_points(opened):
    """Scores on a grid of 3 by 3 places, among them those of four rows, against sums of the library's kernels."""
    page = opened()
    X, y = make_points()
    X[:4] = [[-1.25, -1.25], [0.0, 0.0], [1.25, -1.25], [1.25, 1.25]]
    for kernel, function in (("rbf", RBF(3.0)), ("polynomial", Polynomial(3, gamma=3.0, coef0=1.0))):
        told = run(page, X, y, kernel=kernel)[-1]["problems"][0]
        grid = page.evaluate("() => [...playground.engine.scores(0, false, 3, 1.25)]")
        expected = (function.block(X[:4], X) + 1.0) @ np.array(told["coefficients"])
        np.testing.assert_allclose(np.array(grid)[[0, 4, 2, 8]], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_the_script_beside_the_run_takes_the_same_steps(opened, capsys):
    page = opened()
    for algorithm in ("pegasos", "mini-batch", "projected", "averaged", "perceptron", "passive-aggressive", "norma"):
        for kernel in ("linear", "rbf", "polynomial"):
            page.locator("#algorithm").select_option(algorithm)
            page.locator("#kernel").select_option(kernel)
            script = page.evaluate("document.getElementById('python').textContent")
            page.evaluate("advance(100)")
            names = {}
            exec(script, names)
            if algorithm == "averaged" or "step" not in names:
                assert algorithm in ("averaged", "passive-aggressive")
                continue
            drawn, margins = page.evaluate("() => [playground.engine.drawn, playground.engine.problem(0).margins]")
            assert set(drawn) == set(names["step"].rows)
            near(sorted(set(margins)), np.sort(names["step"].margins))
    for algorithm, sample in (("dual-ascent", "clouds"), ("pegasos", "three")):
        page.locator("#sample").select_option(sample)
        page.locator("#algorithm").select_option(algorithm)
        exec(page.evaluate("document.getElementById('python').textContent"), {})
    assert "certified" in capsys.readouterr().out


def test_the_bound_is_that_of_the_theory(opened):
    page, (X, y) = opened(), make_points()
    run(page, X, y, n_steps=1)
    largest = float(np.sqrt((X**2).sum(axis=1) + 1.0).max())
    near(page.evaluate("() => playground.engine.bound(300)"), suboptimality_bound(300, 0.02, largest))


def test_the_first_step_is_there_within_a_second(opened):
    """The best of three, since the machine may be shared."""
    taken = []
    for _ in range(3):
        page = opened()
        page.get_by_role("button", name="Step").click()
        assert page.locator("#t").inner_text() == "1"
        # Milliseconds since the page was requested, and those of a step.
        taken.append(
            page.evaluate("""() => {
          const begun = performance.now();
          step();
          return playground.started + performance.now() - begun;
        }""")
        )
    assert min(taken) < 1000.0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_five_hundred_points_are_drawn_smoothly(opened, kernel):
    page = opened()
    page.evaluate("changePoints(samplePoints('circles', 500), 'circles')")
    page.locator("#kernel").select_option(kernel)
    page.get_by_label("Speed").fill("5")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("playground.frames.length > 60")
    page.get_by_role("button", name="Pause").click()
    frames = np.diff(page.evaluate("playground.frames"))
    assert np.median(frames) < 50.0  # 17 where the machine is free; here it is shared
    assert int(page.locator("#t").inner_text().replace(",", "")) > 60


@pytest.mark.slow  # for a quiet machine: busy ones slow the page's thread down too
@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial"])
def test_a_frame_of_any_algorithm_takes_less_than_a_sixtieth_of_a_second(opened, kernel):
    """Processor time of the page's thread, which other programs do not add to; 500 points of three classes."""
    page = opened()
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds():
        found = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        return found["TaskDuration"]

    def milliseconds_per_frame(algorithm):
        page.evaluate("changePoints(samplePoints('three', 500), 'three')")
        page.locator("#kernel").select_option(kernel)
        page.locator("#algorithm").select_option(algorithm)
        page.get_by_label("Speed").fill("5")
        page.evaluate("() => { advance(300); playground.frames = []; play(); }")
        before = seconds()
        page.wait_for_function("playground.frames.length >= 20")
        after, n_frames = seconds(), page.evaluate("playground.frames.length")
        page.evaluate("pause()")
        return 1000.0 * (after - before) / n_frames

    for algorithm in page.evaluate("Object.keys(ALGORITHMS)"):
        assert any(milliseconds_per_frame(algorithm) < 1000.0 / 60.0 for _ in range(2)), algorithm


def test_playing_again_at_once_draws_every_frame_once(opened):
    page = opened()
    page.evaluate("() => { play(); pause(); play(); play(); }")
    page.wait_for_function("playground.frames.length > 20")
    assert (np.diff(page.evaluate("playground.frames")) > 0.0).all()


@pytest.mark.parametrize(("sample", "n_problems"), [("clouds", 1), ("three", 3)])
def test_every_problem_has_its_margins(opened, sample, n_problems):
    page = opened()
    levels = page.evaluate(
        """(sample) => {
      changePoints(samplePoints(sample), sample);
      advance(50);
      const seen = [], drawn = page.plane.contour;
      page.plane.contour = (values, level, ...look) => {
        seen.push(level);
        drawn.call(page.plane, values, level, ...look);
      };
      show();
      return seen;
    }""",
        sample,
    )
    assert [levels.count(level) for level in (-1, 0, 1)] == [n_problems] * 3


def test_a_link_restores_the_state(opened):
    page = opened()
    page.get_by_label("Data").select_option("moons")
    page.locator("#algorithm").select_option("mini-batch")
    page.locator("#kernel").select_option("rbf")
    page.get_by_label("Seed").fill("11")
    page.get_by_label("Seed").blur()
    for _ in range(12):
        page.get_by_role("button", name="Step").click()
    page.get_by_role("button", name="Copy link").click()
    tell = """() => {
      const { settings, points, engine } = playground;
      return [settings, points, engine.step, [...engine.problem(0).alpha]];
    }"""
    expected, link = page.evaluate(tell), page.evaluate("location.hash")
    assert expected[2] == 12
    assert expected[0]["seed"] == 11
    assert opened(link).evaluate(tell) == expected


def test_a_broken_link_opens_what_it_can(opened):
    assert opened("#p=%%%").locator("#t").inner_text() == "0"
    page = opened("#algorithm=toString&lam=-5&gamma=x&batch=1e9&p=AAA")
    assert page.evaluate("playground.settings.algorithm") == "pegasos"
    assert page.evaluate("playground.settings.lam") == 1e-4
    assert page.get_by_text("Draw points of at least two classes").is_visible()
    assert page.get_by_role("button", name="Step").is_disabled()


def test_everything_can_be_done_with_keys(opened):
    page = opened()
    n_points = page.evaluate("playground.points.length")
    page.locator("#plane").focus()
    page.keyboard.press("3")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Enter")
    added = page.evaluate("playground.points.at(-1)")
    assert page.evaluate("playground.points.length") == n_points + 1
    assert (round(added["x"], 2), round(added["y"], 2), added["c"]) == (0.05, 0.2, 2)
    assert page.get_by_role("radio", name="Class C").get_attribute("aria-checked") == "true"
    page.keyboard.press("Delete")
    assert page.evaluate("playground.points.length") == n_points
    page.keyboard.press("s")
    assert page.locator("#t").inner_text() == "1"
    assert "row" in page.locator("#told").inner_text()
    page.keyboard.press(" ")
    page.wait_for_function("playground.engine.step > 3")
    page.keyboard.press(" ")
    assert page.get_by_role("button", name="Play").is_visible()
    page.keyboard.press("r")
    assert page.locator("#t").inner_text() == "0"


def test_points_are_drawn_with_mouse_and_finger(opened):
    page = opened(has_touch=True)
    page.get_by_role("button", name="Clear").click()
    box = page.locator("#plane").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(*middle)
    page.get_by_role("radio", name="Class D").click()
    page.touchscreen.tap(middle[0] + box["width"] / 5, middle[1])
    points = page.evaluate("playground.points")
    assert [point["c"] for point in points] == [1, 3]
    np.testing.assert_allclose([[p["x"], p["y"]] for p in points], [[0, 0], [0.5, 0]], atol=0.01)
    page.get_by_role("button", name="Step").click()
    assert page.locator("#t").inner_text() == "1"
    page.keyboard.down("Shift")
    page.mouse.click(*middle)
    assert page.evaluate("playground.points.length") == 1


def test_a_file_of_points_is_loaded_or_refused_with_a_reason(opened, tmp_path):
    page = opened()
    good, bad = tmp_path / "points.csv", tmp_path / "bad.csv"
    good.write_text("x,y,class\n0,0,a\n10,4,b\n5,2,c\n")
    bad.write_text("0,0,a\n1,oops,b\n")
    page.locator("#file").set_input_files(good)
    page.wait_for_function("playground.points.length === 3")
    assert [p["c"] for p in page.evaluate("playground.points")] == [0, 1, 2]
    page.locator("#file").set_input_files(bad)
    page.wait_for_function("document.getElementById('told').textContent.includes('Line 2')")
    assert page.evaluate("playground.points.length") == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_their_width_and_every_control_has_a_name(opened, scheme):
    for width in (390, 1440):
        page = opened(viewport={"width": width, "height": 900}, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        nameless = """() => [...document.querySelectorAll("button, select, input, canvas[role]")].filter((e) =>
          !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim())).map((e) => e.outerHTML)"""
        assert page.evaluate(nameless) == []


@pytest.mark.slow
def test_text_has_enough_contrast_in_both_schemes(opened):
    for scheme in ("light", "dark"):
        ratio, where = opened(color_scheme=scheme).evaluate(CONTRAST)
        assert ratio >= 4.5, where


def test_every_sample_trains_with_every_algorithm(opened):
    page = opened()
    seen = page.evaluate("""() => {
      const seen = [];
      for (const sample of Object.keys(SAMPLES)) for (const algorithm of Object.keys(ALGORITHMS))
        for (const kernel of Object.keys(KERNELS)) {
          page.settings = { ...DEFAULTS, algorithm, kernel };
          changePoints(samplePoints(sample), sample);
          advance(100);
          const p = playground.engine.problem(0);
          seen.push([sample, algorithm, kernel, p.bestPrimal, p.bestDual, p.dual]);
            if (algorithm === "pegasos") show();
        }
      return seen;
    }""")
    assert len(seen) == 6 * 8 * 3
    for *what, primal, dual, now in seen:
        assert np.isfinite([primal, dual, now]).all(), what
        assert dual <= primal, what
