"use strict";
// Draws the charts from the data in the page, and answers to pointer and keys. No library, no network.
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  document.getElementById("no-script").remove();
  const margin = { top: 14, right: 16, bottom: 44, left: 68 };

  function make(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }
  function draw(name, attributes = {}, words = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (words) node.textContent = words;
    return node;
  }
  function short(value) {
    if (value === null) return "–";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e").replace(/-/g, "−");
    return String(Number(value.toPrecision(5))).replace("-", "−");
  }

  // A scale maps values to pixels; what a logarithmic axis cannot show is null.
  function scaleOf(low, high, from, to, log) {
    const f = log ? Math.log10 : (v) => v;
    const [a, b] = [f(low), f(high)];
    const at = (v) => (v === null || (log && v <= 0) ? null : from + ((f(v) - a) / (b - a || 1)) * (to - from));
    return { at, ticks: (log ? logTicks : ticks)(low, high, Math.abs(to - from), from > to ? 45 : 80) };
  }
  function ticks(low, high, pixels, apart) {
    const wanted = Math.max(2, Math.floor(pixels / apart));
    const raw = (high - low) / wanted || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  }
  function logTicks(low, high, pixels, apart) {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const every = Math.max(1, Math.ceil((last - first) / Math.max(2, Math.floor(pixels / apart))));
    const factors = last - first <= 2 ? [1, 2, 5] : [1];
    const found = [];
    for (let k = first; k <= last; k += every) for (const m of factors) found.push(Number((m * 10 ** k).toPrecision(3)));
    return found.filter((v) => v >= low * 0.999 && v <= high * 1.001);
  }
  function extent(values, log, span) {
    const usable = values.filter((v) => v !== null && (!log || v > 0));
    let low = Math.min(...usable), high = Math.max(...usable);
    if (!usable.length) [low, high] = log ? [0.1, 1] : [0, 1];
    if (span && span[0] !== null) low = span[0];
    if (span && span[1] !== null) high = span[1];
    if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
    return [low, high];
  }

  class Chart {
    constructor(figure, spec) {
      Object.assign(this, { figure, spec, set: spec.sets[0], axis: spec.x[0], at: null });
      this.log = { x: spec.x[0].log, y: spec.y.log };
      this.shown = new Set(spec.series.map((s) => s.key));
      this.controls = make("div", { class: "controls" });
      this.svg = draw("svg", { class: "plot", tabindex: "0", role: "img", "aria-label": spec.label });
      this.note = make("p", { class: "note" });
      this.tip = make("output", { class: "tip", "aria-live": "polite" });
      this.table = make("details", {}, make("summary", {}, "The numbers as a table"));
      figure.append(this.controls, this.note, this.svg, this.tip, this.table);
      this.addControls();
      this.listen();
      new ResizeObserver(() => this.render()).observe(figure);
      this.table.addEventListener("toggle", () => this.tabulate());
      this.render();
    }
    addControls() {
      const { spec } = this;
      if (spec.sets.length > 1) {
        const select = make("select", { "aria-label": spec.choose }, ...spec.sets.map((s, k) => make("option", { value: k }, s.name)));
        select.addEventListener("change", () => this.change({ set: spec.sets[select.value] }));
        this.controls.append(make("label", { class: "choose" }, spec.choose, select));
      }
      if (spec.series.length > 1) spec.series.forEach((s, k) => this.addSeries(s, k));
      const axes = make("span", { class: "axes controls" });
      if (spec.x.length > 1) {
        const select = make("select", { "aria-label": "Against" }, ...spec.x.map((a, k) => make("option", { value: k }, a.key)));
        select.addEventListener("change", () => this.change({ axis: spec.x[select.value] }));
        axes.append(make("label", { class: "choose" }, "Against", select));
      }
      for (const [name, can] of [["x", spec.x[0].toggle], ["y", spec.y.toggle]]) {
        if (can) axes.append(this.toggle(`log ${name}`, this.log[name], (on) => { this.log[name] = on; }));
      }
      if (axes.childNodes.length) this.controls.append(axes);
    }
    addSeries(series, k) {
      const key = make("span", { class: `key tone${k % 3}${this.spec.kind === "bars" ? " block" : ""}`, "aria-hidden": "true" });
      this.controls.append(this.toggle(series.name, true, (on) => this.shown[on ? "add" : "delete"](series.key), key));
    }
    toggle(words, on, then, ...before) {
      const button = make("button", { type: "button", "aria-pressed": on }, ...before, words);
      button.addEventListener("click", () => {
        const pressed = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", pressed);
        then(pressed);
        this.change({});
      });
      return button;
    }
    change(what) {
      Object.assign(this, what, { at: null });
      this.render();
      this.tabulate();
    }
    get columns() { return this.set.columns; }
    get xs() {
      const values = this.columns[this.axis.key];
      return this.spec.kind === "bars" ? values.slice(1).map((v, k) => (v + values[k]) / 2) : values;
    }
    get series() { return this.spec.series.filter((s) => this.shown.has(s.key)); }

    render() {
      const width = Math.max(240, this.svg.clientWidth || this.figure.clientWidth);
      const height = Math.round(Math.min(340, Math.max(230, width * 0.58)));
      this.size = { width, height };
      this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.svg.setAttribute("height", height);
      this.svg.replaceChildren();
      this.note.textContent = this.set.note || "";
      this.note.hidden = !this.set.note;
      this.scales();
      this.drawAxes();
      ({ bars: this.drawBars, lines: this.drawLines, points: this.drawPoints })[this.spec.kind].call(this);
      this.drawMarks();
      this.cursor = draw("g");
      this.svg.append(this.cursor);
      this.point(this.at);
    }
    scales() {
      const { spec, log, size } = this, span = this.set.span || spec.span || {};
      const bars = spec.kind === "bars";
      const marks = this.set.marks || [];
      const ys = bars ? [0, ...this.xs.map((_, k) => this.series.reduce((sum, s) => sum + this.columns[s.key][k], 0))]
        : this.series.flatMap((s) => this.columns[s.key]).concat(marks.filter((m) => m.y !== undefined).map((m) => m.y));
      let [low, high] = extent(ys, log.y, span.y);
      if (!span.y && !log.y) [low, high] = [bars ? 0 : low - 0.04 * (high - low), high + 0.04 * (high - low)];
      if (!span.y && log.y) [low, high] = [low / 1.3, high * 1.3];
      this.y = scaleOf(low, high, size.height - margin.bottom, margin.top, log.y);
      let [left, right] = extent(this.columns[this.axis.key], log.x, span.x);
      if (!bars && !span.x && !log.x) [left, right] = [left - 0.02 * (right - left), right + 0.02 * (right - left)];
      this.x = scaleOf(left, right, margin.left, size.width - margin.right, log.x);
    }
    drawAxes() {
      const { width, height } = this.size, bottom = height - margin.bottom;
      for (const v of this.y.ticks) {
        const y = this.y.at(v);
        this.svg.append(draw("line", { class: "rule", x1: margin.left, x2: width - margin.right, y1: y, y2: y }));
        this.svg.append(draw("text", { x: margin.left - 8, y: y + 4, "text-anchor": "end" }, short(v)));
      }
      for (const v of this.x.ticks) {
        const x = this.x.at(v);
        this.svg.append(draw("line", { class: "rule", x1: x, x2: x, y1: bottom, y2: bottom + 5 }));
        this.svg.append(draw("text", { x, y: bottom + 19, "text-anchor": "middle" }, short(v)));
      }
      const middle = (margin.left + width - margin.right) / 2, centre = (margin.top + bottom) / 2;
      this.svg.append(draw("text", { x: middle, y: height - 6, "text-anchor": "middle" }, this.axis.label));
      const turned = { "text-anchor": "middle", transform: `translate(12 ${centre}) rotate(-90)` };
      this.svg.append(draw("text", turned, this.spec.y.label));
    }
    drawLines() {
      this.spec.series.forEach((series, k) => {
        if (!this.shown.has(series.key)) return;
        let path = "", pen = "M";
        this.columns[series.key].forEach((v, i) => {
          const [x, y] = [this.x.at(this.xs[i]), this.y.at(v)];
          if (x === null || y === null) { pen = "M"; return; }
          path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
          pen = "L";
          if (this.spec.points && this.xs.length <= 60) this.svg.append(draw("circle", { class: `dot tone${k % 3}`, cx: x, cy: y, r: 3 }));
        });
        this.svg.append(draw("path", { class: `curve tone${k % 3}`, d: path }));
      });
    }
    drawPoints() {
      const [lower, upper] = (this.spec.whiskers || []).map((key) => this.columns[key]);
      this.spec.series.forEach((series, k) => {
        if (!this.shown.has(series.key)) return;
        this.columns[series.key].forEach((v, i) => {
          const [x, y] = [this.x.at(this.xs[i]), this.y.at(v)];
          if (x === null || y === null) return;
          if (lower) this.svg.append(draw("line", { class: "whisker", x1: x, x2: x, y1: this.y.at(lower[i]), y2: this.y.at(upper[i]) }));
          this.svg.append(draw("circle", { class: `dot open tone${k % 3}`, cx: x, cy: y, r: 2.5 }));
        });
      });
    }
    drawBars() {
      const edges = this.columns[this.axis.key], base = this.xs.map(() => 0);
      this.spec.series.forEach((series, k) => {
        if (!this.shown.has(series.key)) return;
        this.columns[series.key].forEach((n, i) => {
          if (!n) return;
          const [x, right] = [this.x.at(edges[i]), this.x.at(edges[i + 1])];
          const [low, high] = [this.y.at(base[i]), this.y.at(base[i] + n)];
          base[i] += n;
          const size = { x: x + 0.5, y: high, width: Math.max(0.5, right - x - 1), height: Math.max(low - high, 0.75) };
          this.svg.append(draw("rect", { class: `block tone${k % 3}`, ...size }));
        });
      });
    }
    drawMarks() {
      const { width, height } = this.size, bottom = height - margin.bottom, right = width - margin.right;
      const labels = []; // above all lines
      for (const [k, mark] of (this.set.marks || []).entries()) {
        if (mark.ends) {
          const [x1, y1, x2, y2] = mark.ends;
          this.svg.append(draw("line", { class: "mark", x1: this.x.at(x1), y1: this.y.at(y1), x2: this.x.at(x2), y2: this.y.at(y2) }));
        } else if (mark.diagonal) {
          const ends = { x1: this.x.at(0), y1: this.y.at(0), x2: this.x.at(1), y2: this.y.at(1) };
          this.svg.append(draw("line", { class: "mark", ...ends }));
        } else if (mark.x !== undefined) {
          const x = this.x.at(mark.x);
          if (x === null || x < margin.left || x > right) continue;
          this.svg.append(draw("line", { class: "mark", x1: x, x2: x, y1: margin.top, y2: bottom }));
          const side = x > right - 90 ? { x: x - 5, "text-anchor": "end" } : { x: x + 5 };
          labels.push(draw("text", { ...side, y: margin.top + 10 + 15 * k }, mark.label));
        } else {
          const y = this.y.at(mark.y);
          if (y === null || y < margin.top || y > bottom) continue;
          this.svg.append(draw("line", { class: "mark", x1: margin.left, x2: right, y1: y, y2: y }));
          labels.push(draw("text", { x: margin.left + 6, y: y - 6 }, mark.label));
        }
      }
      this.svg.append(...labels);
    }

    listen() {
      this.svg.addEventListener("pointermove", (event) => {
        const box = this.svg.getBoundingClientRect();
        this.point(this.nearest(event.clientX - box.left, event.clientY - box.top));
      });
      this.svg.addEventListener("pointerleave", () => this.point(null));
      this.svg.addEventListener("blur", () => this.point(null));
      this.svg.addEventListener("keydown", (event) => {
        const last = this.xs.length - 1, now = this.at;
        const to = { ArrowRight: now === null ? 0 : now + 1, ArrowLeft: now === null ? last : now - 1, Home: 0, End: last }[event.key];
        if (event.key === "Escape") this.point(null);
        if (to === undefined) return;
        event.preventDefault();
        this.point(Math.min(last, Math.max(0, to)));
      });
    }
    nearest(x, y) {
      let best = null, least = Infinity;
      this.xs.forEach((v, i) => {
        const here = this.x.at(v);
        if (here === null) return;
        // Curves may stand upright: of points above each other the one at the pointer's height is meant.
        const of = this.spec.kind === "points" ? this.series.find((s) => this.columns[s.key][i] !== null) : this.series[0];
        if (!of) return;
        const there = this.spec.kind === "points" || (this.series.length === 1 && this.spec.kind === "lines") ? this.y.at(this.columns[of.key][i]) : y;
        const far = (here - x) ** 2 + (there === null ? 0 : there - y) ** 2;
        if (far < least) [best, least] = [i, far];
      });
      return best;
    }
    point(i) {
      this.at = i;
      this.cursor.replaceChildren();
      this.tip.replaceChildren();
      const x = i === null ? null : this.x.at(this.xs[i]);
      if (x === null) return;
      this.cursor.append(draw("line", { class: "cursor", x1: x, x2: x, y1: margin.top, y2: this.size.height - margin.bottom }));
      for (const words of this.words(i)) this.tip.append(make("span", {}, words));
      const top = this.svg.offsetTop || this.svg.getBoundingClientRect().top - this.figure.getBoundingClientRect().top;
      const left = x + 14 + this.tip.offsetWidth > this.size.width ? Math.max(0, x - 14 - this.tip.offsetWidth) : x + 14;
      this.tip.style.transform = `translate(${left}px, ${top + margin.top}px)`;
    }
    words(i) {
      const edges = this.columns[this.axis.key];
      const where = this.spec.kind === "bars" ? `${short(edges[i])} to ${short(edges[i + 1])}` : `${short(edges[i])}`;
      return [`${this.axis.label.split(/[:(]/)[0].trim()}: ${where}`, ...this.others(i)];
    }
    others(i) {
      const extra = this.columns.rows && this.spec.kind === "lines" ? [`rows: ${short(this.columns.rows[i])}`] : [];
      if (this.spec.kind === "points" && this.columns.row) extra.push(`row ${this.columns.row[i]}`);
      const named = this.series.filter((s) => this.spec.kind !== "points" || this.columns[s.key][i] !== null);
      return [...named.map((s) => `${s.name.split(":")[0]}: ${short(this.columns[s.key][i])}`), ...extra];
    }
    tabulate() {
      this.table.querySelector("div")?.remove();
      if (!this.table.open) return;
      const heads = [this.axis.label, ...this.spec.series.map((s) => s.name)];
      const edges = this.columns[this.axis.key];
      const rows = this.xs.map((x, i) => [
        this.spec.kind === "bars" ? `${short(edges[i])} to ${short(edges[i + 1])}` : short(x),
        ...this.spec.series.map((s) => short(this.columns[s.key][i])),
      ]);
      const head = make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)));
      const body = rows.map(([first, ...rest]) => make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((v) => make("td", {}, v))));
      const caption = `${this.spec.label}${this.spec.sets.length > 1 ? `: ${this.set.name}` : ""}`;
      const table = make("table", { class: "numbers" }, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body));
      this.table.append(make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, table));
    }
  }

  for (const figure of document.querySelectorAll("[data-chart]")) new Chart(figure, charts[figure.dataset.chart]);

  // Of several blocks one is shown; without this script all of them are.
  for (const select of document.querySelectorAll("[data-choose]")) {
    const blocks = document.querySelectorAll(`[data-of="${select.dataset.choose}"]`);
    const choose = () => blocks.forEach((block, k) => { block.hidden = k !== select.selectedIndex; });
    select.addEventListener("change", choose);
    select.closest("label").hidden = false;
    choose();
  }

  const theme = document.getElementById("theme"), root = document.documentElement;
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Use ${isDark() ? "light" : "dark"} colors`); };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  theme.hidden = false;
  name();

  // On paper nothing can be opened; the tables of charts would fill pages.
  addEventListener("beforeprint", () => document.querySelectorAll(".card > details").forEach((each) => { each.open = true; }));
})();
