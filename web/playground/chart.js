// Primal and dual against the step, or their difference; and what the paper promises.

class Chart {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.showsGap = false;
    this.restart();
  }

  restart() { this.points = []; }

  // Of all problems together. The axis is logarithmic: points closer than a pixel or so are replaced by the next one.
  note(engine) {
    const t = engine.step;
    if (t === 0) return;
    if (this.points.length > 1 && t < 1.006 * this.points.at(-2).t) this.points.pop();
    const sum = (key) => engine.problems().reduce((total, p) => total + p[key], 0);
    this.points.push({ t, primal: sum("primal"), dual: sum("dual"), bestPrimal: sum("bestPrimal"), bestDual: sum("bestDual") });
  }

  draw(engine, colors) {
    const ratio = Math.min(2, window.devicePixelRatio || 1), pen = this.pen;
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
    if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif";
    const box = { left: 44, right: width - 10, top: 22, bottom: height - 24 };
    const last = this.points.length ? this.points.at(-1).t : 1, most = Math.max(10, last);
    const x = (t) => box.left + (Math.log(t) / Math.log(most)) * (box.right - box.left);
    const problems = engine ? engine.nProblems : 1;
    const y = this.showsGap ? this.logAxis(engine, box, colors) : this.plainAxis(box, colors, problems);
    pen.fillStyle = colors.soft;
    pen.textAlign = "center";
    for (let t = 1; x(t) < box.right - 50; t *= 10)
      pen.fillText(t < 1e4 ? String(t) : `1e${Math.round(Math.log10(t))}`, x(t), height - 8);
    pen.textAlign = "right";
    pen.fillText("step", box.right, height - 8);
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
    pen.clip();
    const entries = this.showsGap ? this.gapLines(engine, x, y, most, colors) : this.objectiveLines(engine, x, y, most, colors);
    pen.restore();
    let at = box.left;
    pen.textAlign = "left";
    for (const [name, color, dashed] of entries) {
      this.line([[at, 9], [at + 16, 9]], color, 2.2, dashed);
      pen.fillStyle = colors.ink;
      pen.fillText(name, at + 21, 13);
      at += 36 + pen.measureText(name).width;
    }
  }

  plainAxis(box, colors, problems) {
    const top = 1.5 * problems;
    const y = (v) => box.bottom - (v / top) * (box.bottom - box.top);
    for (const v of [0, 0.5, 1, 1.5]) this.tick(box, y(v * problems), (v * problems).toFixed(1), colors);
    return y;
  }

  logAxis(engine, box, colors) {
    const gaps = this.points.map((p) => p.bestPrimal - p.bestDual).filter((g) => g > 0);
    const low = Math.min(-2, Math.floor(Math.log10(Math.max(1e-12, Math.min(1, ...gaps))))), high = 2;
    const y = (v) => box.bottom - ((Math.log10(Math.max(v, 1e-300)) - low) / (high - low)) * (box.bottom - box.top);
    const every = Math.ceil((high - low) / 5);
    for (let e = high; e >= low; e -= every) this.tick(box, y(10 ** e), `1e${e}`, colors);
    return y;
  }

  tick(box, at, text, colors) {
    const pen = this.pen;
    pen.strokeStyle = colors.rule;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(box.left, at), pen.lineTo(box.right, at);
    pen.stroke();
    pen.fillStyle = colors.soft;
    pen.textAlign = "right";
    pen.fillText(text, box.left - 6, at + 4);
  }

  line(path, color, width, dashed) {
    const pen = this.pen;
    pen.beginPath();
    path.forEach(([a, b], k) => (k ? pen.lineTo(a, b) : pen.moveTo(a, b)));
    pen.setLineDash(dashed ? [5, 4] : []);
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.lineJoin = "round";
    pen.stroke();
    pen.setLineDash([]);
  }

  boundLine(engine, x, y, most, above) {
    const path = [];
    for (let k = 0; engine && k <= 60; k++) {
      const t = most ** (k / 60);
      path.push([x(t), y(above + engine.bound(t))]);
    }
    return path;
  }

  objectiveLines(engine, x, y, most, colors) {
    const upper = this.points.map((p) => [x(p.t), y(p.bestPrimal)]), lower = this.points.map((p) => [x(p.t), y(p.bestDual)]);
    const pen = this.pen;
    if (upper.length > 1) {
      pen.beginPath();
      [...upper, ...lower.reverse()].forEach(([a, b], k) => (k ? pen.lineTo(a, b) : pen.moveTo(a, b)));
      pen.fillStyle = colors.band;
      pen.fill();
    }
    const known = this.points.length ? Math.max(0, this.points.at(-1).bestDual) : 0;
    this.line(this.boundLine(engine, x, y, most, known), colors.soft, 1.5, true);
    this.line(this.points.map((p) => [x(p.t), y(p.primal)]), colors.primal, 1.8, false);
    this.line(this.points.map((p) => [x(p.t), y(p.dual)]), colors.dual, 1.8, false);
    return [["primal", colors.primal, false], ["dual", colors.dual, false], ["paper’s bound", colors.soft, true]];
  }

  gapLines(engine, x, y, most, colors) {
    this.line(this.boundLine(engine, x, y, most, 0), colors.soft, 1.5, true);
    this.line(this.points.map((p) => [x(p.t), y(p.primal - p.dual)]), colors.faint, 1.2, false);
    this.line(this.points.map((p) => [x(p.t), y(p.bestPrimal - p.bestDual)]), colors.primal, 2, false);
    return [["gap", colors.faint, false], ["best gap", colors.primal, false], ["paper’s bound", colors.soft, true]];
  }
}
