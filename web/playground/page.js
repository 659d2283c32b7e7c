// What happens when: the controls, the run, the link.

const $ = (id) => document.getElementById(id);
const SPEEDS = [1, 2, 5, 15, 60, 300, 1500, 6000, 30000];  // steps per second
const CLASS_NAMES = ["A", "B", "C", "D"];
const NORMA_LONGEST = 0.9;

const RULES = {
  "pegasos": "draw a row; w ← (1 − 1/t) w, and if y⟨w, x⟩ &lt; 1 add η y x, η = 1/(λt)",
  "mini-batch": "draw k rows; w ← (1 − 1/t) w + (η/k) Σ y x over those with y⟨w, x⟩ &lt; 1",
  "projected": "a step of Pegasos; then w ← w · min(1, 1/(√λ |w|)), back into the ball that holds the solution",
  "averaged": "steps of Pegasos; shown is the mean of w<sub>1</sub> … w<sub>t</sub>, which the paper’s bound is about",
  "perceptron": "if y⟨w, x⟩ ≤ 0: w ← w + y x. It ends at any separating line, and knows no margin.",
  "passive-aggressive": "if y⟨w, x⟩ &lt; 1: w ← w + min(C, (1 − y⟨w, x⟩)/|x|²) y x",
  "norma": "w ← (1 − ηλ) w, and if y⟨w, x⟩ &lt; 1 add η y x, with a constant η",
  "dual-ascent": "visit a row; α ← clip(α + λn (1 − y⟨w, x⟩)/|x|², 0, 1): the best α for this row alone",
};
const page = {
  settings: { ...DEFAULTS }, points: [], drawnClass: 1, engine: null, isReady: false, isPlaying: false, owed: 0, turn: 0,
  frames: [],
};
window.playground = page;

const short = (v) => {
  if (!Number.isFinite(v)) return "–";
  if (Math.abs(v) < 1e-12) return "0";
  return Math.abs(v) >= 1e4 || Math.abs(v) < 1e-3 ? v.toExponential(2) : String(Number(v.toPrecision(4)));
};
const percent = (v) => `${v > 0.995 && v < 1 ? (Math.floor(v * 1000) / 10).toFixed(1) : Math.round(100 * v)} %`;

function readColors() {
  const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
  const classes = [0, 1, 2, 3].map((k) => get(`--class-${k}`));
  const rgb = classes.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  page.colors = {
    plane: get("--plane"), grid: get("--grid"), ink: get("--ink"), soft: get("--soft"), rule: get("--rule"),
    hit: get("--hit"), primal: get("--primal"), dual: get("--dual"), band: `${get("--dual")}1c`,
    faint: `${get("--primal")}66`, classes, rgb,
  };
}

// Classes that have points, in order: the codes that the core is given.
const presentClasses = () => [...new Set(page.points.map((p) => p.c))].sort();

function restart() {
  page.chart.restart();
  page.owed = 0;
  page.classes = presentClasses();
  page.isReady = page.classes.length >= 2;
  $("empty").hidden = page.isReady;
  for (const id of ["step", "play", "restart"]) $(id).disabled = !page.isReady;
  if (!page.isReady) {
    pause();
  } else {
    const codes = page.points.map((p) => page.classes.indexOf(p.c));
    page.engine.begin(page.points.flatMap((p) => [p.x, p.y]), codes, page.settings);
  }
  show();
}

function advance(nSteps) {
  if (!page.isReady) return;
  page.engine.advance(nSteps);
  page.engine.look();
  page.chart.note(page.engine);
}

function step() {
  pause();
  advance(1);
  show();
  tell($("drawn").textContent + `; step ${page.engine.step}`);
}

function play() {
  if (!page.isReady || page.isPlaying) return;
  page.isPlaying = true;
  page.last = performance.now();
  $("play").textContent = "Pause";
  $("play").setAttribute("aria-pressed", "true");
  page.asked = requestAnimationFrame(frame);
}

function pause() {
  if (!page.isPlaying) return;
  page.isPlaying = false;
  cancelAnimationFrame(page.asked);  // or playing again at once would draw everything twice
  $("play").textContent = "Play";
  $("play").setAttribute("aria-pressed", "false");
  if (page.isReady) show(), tell(`Paused at step ${page.engine.step}. ${$("certificate").textContent}`);
}

// Steps that are due since the last frame; a slow machine takes fewer steps, not fewer frames. Numbers, the chart and
// the settled region change with every other frame.
function frame(now) {
  if (!page.isPlaying) return;
  page.frames.push(now);
  if (page.frames.length > 240) page.frames.shift();
  page.owed += (Math.min(100, now - page.last) / 1000) * SPEEDS[$("speed").value];
  page.last = now;
  const begun = performance.now();
  let taken = false;
  while (page.owed >= 1 && performance.now() - begun < 6) {
    const chunk = Math.min(Math.floor(page.owed), page.points.length > 200 ? 16 : 64);
    page.engine.advance(chunk);
    page.owed -= chunk;
    taken = true;
  }
  if (page.owed > SPEEDS[$("speed").value]) page.owed = 0;
  if (taken) {
    page.engine.look();
    page.chart.note(page.engine);
    page.turn = (page.turn + 1) % 2;
    if (page.turn) page.plane.draw(page.engine, page.points, page.classes, page.colors, true);
    else show();
  }
  page.asked = requestAnimationFrame(frame);
}

const tell = (text) => { $("told").textContent = text; };

function show() {
  const engine = page.isReady ? page.engine : null;
  page.plane.draw(engine, page.points, page.classes ?? [], page.colors);
  page.chart.draw(engine, page.colors);
  showNumbers(engine);
}

function showNumbers(engine) {
  const t = engine ? engine.step : 0, problems = engine ? engine.problems() : [];
  $("t").textContent = t.toLocaleString("en-US");
  $("eta").textContent = engine && t > 0 ? short(engine.eta) : "–";
  $("drawn").innerHTML = t > 0 ? drawnInWords(engine, problems) : "nothing yet";
  $("w-name").textContent = page.settings.kernel === "linear" ? "w, b" : "Σ α, b";
  $("w").innerHTML = weightsInWords(problems);
  const supports = new Set();
  for (const p of problems) p.alpha.forEach((a, i) => { if (Math.abs(a) > 1e-9) supports.add(i); });
  $("support").textContent = `${supports.size} of ${page.points.length}`;
  $("settled").textContent = engine ? percent(page.plane.settledShare) : "–";
  $("certificate").textContent = certificateInWords(t, problems);
  $("chart").setAttribute("aria-label", `Chart of the objectives against the step. ${certificateInWords(t, problems)}`);
  $("plane").setAttribute("aria-label", `Plane of ${page.points.length} points, ${presentClasses().length} classes, step ${t}, ` +
    `${supports.size} support vectors`);
}

function drawnInWords(engine, problems) {
  const drawn = engine.drawn, hits = drawn.filter((_, place) => problems.some((p) => p.violated[place])).length;
  const isAscent = page.settings.algorithm === "dual-ascent";
  if (drawn.length > 1) return `${drawn.length} rows, <span class="${hits ? "hit" : ""}">${hits} violate</span>`;
  const margins = problems.map((p) => short(p.margins[0])).join(", ");
  const verdict = isAscent ? (hits ? "α moves" : "stays") : (hits ? "violates" : "fits");
  return `row ${drawn[0]} (${CLASS_NAMES[page.points[drawn[0]].c]}), margin ${margins}: ` +
    `<span class="${hits ? "hit" : ""}">${verdict}</span>`;
}

function weightsInWords(problems) {
  if (problems.length === 0) return "–";
  const numbers = (p) => {
    if (p.weights) return p.weights;
    return [p.alpha.reduce((s, a) => s + Math.abs(a), 0), p.coefficients.reduce((s, c) => s + c, 0)];
  };
  if (problems.length === 1) return numbers(problems[0]).map(short).join(", ");
  const rows = problems.map((p, k) => `<tr><td>${CLASS_NAMES[page.classes[k]]}</td>${numbers(p).map((v) => `<td>${short(v)}</td>`).join("")}</tr>`);
  return `<table>${rows.join("")}</table>`;
}

function certificateInWords(t, problems) {
  if (t === 0) return "Nothing is proved before the first step.";
  const sum = (key) => problems.reduce((s, p) => s + p[key], 0);
  const above = sum("bestPrimal"), below = sum("bestDual"), gap = (above - below) / above;
  const best = `Best so far: ${short(above)}, and no weights cost less than ${short(Math.max(0, below))}`;
  if (!(below > 0) || gap > 0.99) return `${best}: no useful bound yet.`;
  return `${best}: at most ${gap < 1e-9 ? "0.0000001" : short(100 * gap)} % of the cost can be saved.`;
}

function showSettings() {
  const s = page.settings;
  for (const key of ["algorithm", "kernel", "sampling", "seed", "degree", "batch"]) $(key).value = s[key];
  $("lam").value = Math.log10(s.lam);
  $("gamma").value = Math.log2(s.gamma);
  $("size").value = Math.log10(s.size);
  $("for-gamma").hidden = s.kernel === "linear";
  $("for-degree").hidden = s.kernel !== "polynomial";
  $("for-batch").hidden = s.algorithm !== "mini-batch";
  $("for-size").hidden = !["passive-aggressive", "norma"].includes(s.algorithm);
  $("size-name").textContent = s.algorithm === "norma" ? "Length of a step η" : "Longest step C";
  $("sampling").disabled = s.algorithm === "dual-ascent";
  for (const [key, text] of [["lam", short(s.lam)], ["gamma", short(s.gamma)], ["degree", s.degree], ["batch", s.batch], ["size", short(s.size)]])
    $(`${key}-now`).textContent = text, $(key).setAttribute("aria-valuetext", text);
  $("rule").innerHTML = RULES[s.algorithm];
  showSpeed();
  const classes = presentClasses();
  $("python").textContent = pythonOf(s, page.points, page.points.map((p) => classes.indexOf(p.c)));
}

function showSpeed() {
  const speed = SPEEDS[$("speed").value];
  $("speed-now").textContent = `${speed.toLocaleString("en-US")}/s`;
  $("speed").setAttribute("aria-valuetext", `${speed} steps per second`);
}

function change(key, value) {
  page.settings[key] = value;
  if (page.settings.algorithm === "norma") page.settings.size = Math.min(NORMA_LONGEST, page.settings.size);
  restart();
  showSettings();
}

function changePoints(points, name) {
  page.points = points;
  $("sample").value = name;
  restart();
  showSettings();
}

function addPoint(x, y) {
  if (page.points.length >= MOST_POINTS) return tell(`There is room for ${MOST_POINTS} points.`);
  changePoints([...page.points, { x: rounded(x), y: rounded(y), c: page.drawnClass }], "own");
  tell(`Point of class ${CLASS_NAMES[page.drawnClass]} added.`);
}

function removePoint(x, y) {
  let nearest = -1, least = 0.12 ** 2;
  page.points.forEach((p, i) => {
    const square = (p.x - x) ** 2 + (p.y - y) ** 2;
    if (square < least) nearest = i, least = square;
  });
  if (nearest < 0) return tell("There is no point here.");
  changePoints(page.points.filter((_, i) => i !== nearest), "own");
  tell("Point removed.");
}

function chooseClass(k) {
  page.drawnClass = k;
  for (const [at, button] of [...$("swatches").children].entries()) {
    button.setAttribute("aria-checked", String(at === k));
    button.tabIndex = at === k ? 0 : -1;
  }
}

function makeSwatches() {
  $("swatches").replaceChildren(...CLASS_NAMES.map((name, k) => {
    const button = document.createElement("button"), canvas = document.createElement("canvas");
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-label", `Class ${name}`);
    canvas.width = canvas.height = 40;
    canvas.style.width = "20px";
    drawMark(canvas.getContext("2d"), k, 20, 20, 12, page.colors.classes[k], page.colors.plane, 2);
    button.append(canvas);
    button.addEventListener("click", () => chooseClass(k));
    return button;
  }));
  $("swatches").onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    chooseClass((page.drawnClass + by + 4) % 4);
    $("swatches").children[page.drawnClass].focus();
  };
  chooseClass(page.drawnClass);
}

function followPointer() {
  const canvas = $("plane");
  let pressed = null;
  canvas.addEventListener("pointerdown", (event) => {
    page.plane.cursor = null;
    pressed = { at: page.plane.fromEvent(event), x: event.clientX, y: event.clientY, removed: false };
    pressed.timer = setTimeout(() => {
      if (!pressed || event.pointerType === "mouse") return;
      pressed.removed = true;
      removePoint(...pressed.at);
    }, 550);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!pressed) return;
    clearTimeout(pressed.timer);
    const { at, x, y, removed } = pressed;
    pressed = null;
    if (removed || Math.hypot(event.clientX - x, event.clientY - y) > 10) return;
    event.shiftKey || event.button === 2 ? removePoint(...at) : addPoint(...at);
  });
  canvas.addEventListener("pointercancel", () => { if (pressed) clearTimeout(pressed.timer); pressed = null; });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (by) {
      const far = event.shiftKey ? 0.2 : 0.05, [x, y] = page.plane.cursor ?? [0, 0];
      page.plane.cursor = [rounded(x + far * by[0]), rounded(y + far * by[1])];
      show();
      tell(page.plane.cursor.map((v) => v.toFixed(2)).join(", "));
    } else if (event.key === "Enter") {
      page.plane.cursor ??= [0, 0];
      addPoint(...page.plane.cursor);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      page.plane.cursor ??= [0, 0];
      removePoint(...page.plane.cursor);
    } else return;
    event.preventDefault();
  });
  canvas.addEventListener("blur", () => { page.plane.cursor = null; show(); });
}

function followKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const onButton = event.target.closest("button, summary");
    if (event.key === " " && !onButton) page.isPlaying ? pause() : play();
    else if (event.key === "s" && page.isReady) step();
    else if (event.key === "r") pause(), restart();
    else if ("1234".includes(event.key)) chooseClass(Number(event.key) - 1);
    else return;
    event.preventDefault();
  });
}

function followControls() {
  for (const key of ["algorithm", "kernel", "sampling"]) $(key).addEventListener("change", () => change(key, $(key).value));
  $("seed").addEventListener("change", () => change("seed", Math.min(4294967295, Math.max(0, Math.floor(Number($("seed").value)) || 0))));
  for (const key of ["degree", "batch"]) $(key).addEventListener("input", () => change(key, Number($(key).value)));
  const digits = (v) => Number(v.toPrecision(3));
  $("lam").addEventListener("input", () => change("lam", digits(10 ** $("lam").value)));
  $("size").addEventListener("input", () => change("size", digits(10 ** $("size").value)));
  $("gamma").addEventListener("input", () => change("gamma", digits(2 ** $("gamma").value)));
  $("sample").addEventListener("change", () => changePoints(samplePoints($("sample").value), $("sample").value));
  $("clear").addEventListener("click", () => changePoints([], "own"));
  $("step").addEventListener("click", step);
  $("play").addEventListener("click", () => (page.isPlaying ? pause() : play()));
  $("restart").addEventListener("click", () => { pause(); restart(); });
  $("speed").addEventListener("input", showSpeed);
  $("load").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", async () => {
    const [file] = $("file").files;
    $("file").value = "";
    if (!file) return;
    try {
      changePoints(readPoints(await file.text()), "own");
      tell(`${page.points.length} points loaded.`);
    } catch (error) {
      $("certificate").textContent = error.message;
      tell(error.message);
    }
  });
  $("show-objectives").addEventListener("click", () => showChart(false));
  $("show-gap").addEventListener("click", () => showChart(true));
  $("share").addEventListener("click", share);
}

function showChart(showsGap) {
  page.chart.showsGap = showsGap;
  $("show-objectives").setAttribute("aria-pressed", String(!showsGap));
  $("show-gap").setAttribute("aria-pressed", String(showsGap));
  show();
}

async function share() {
  pause();
  page.hash = "#" + linkOf(page.settings, page.points, page.isReady ? page.engine.step : 0);
  history.replaceState(null, "", page.hash);
  let text = "Link copied";
  try { await navigator.clipboard.writeText(location.href); } catch { text = "The link is in the address bar"; }
  $("share").textContent = text;
  tell(text);
  setTimeout(() => { $("share").textContent = "Copy link to this state"; }, 2000);
}

// The state of the link, or the first sample. Steps are run again: the same seed, the same steps.
function open() {
  pause();
  const linked = readLink(location.hash);
  page.settings = linked ? linked.settings : { ...DEFAULTS };
  changePoints(linked ? linked.points : samplePoints("clouds"), linked ? "own" : "clouds");
  if (linked && page.isReady && linked.step > 0) {
    for (let done = 0; done < linked.step;) {
      const chunk = linked.step < 400 ? 1 : Math.min(Math.ceil(linked.step / 400), linked.step - done);
      advance(chunk);
      done += chunk;
    }
    show();
  }
}

async function main() {
  page.engine = await Engine.start(WASM);
  page.plane = new Plane($("plane"));
  page.chart = new Chart($("chart"));
  readColors();
  makeSwatches();
  followPointer();
  followKeys();
  followControls();
  open();
  window.addEventListener("hashchange", () => { if (location.hash !== page.hash) open(); });
  window.addEventListener("resize", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColors(); makeSwatches(); show(); });
  page.started = performance.now();
  document.documentElement.dataset.ready = "true";
}

main();
