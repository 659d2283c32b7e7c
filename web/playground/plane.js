// The picture: what each place would be called, how sure that is, the points, and the row that was drawn.

const GRID = 72, FINER = 3, FINE = FINER * GRID;

// Where a pixel lies between the lines of the grid: the line before it, and how far from that.
const LINE = new Int32Array(FINE), PART = new Float32Array(FINE);
for (let a = 0; a < FINE; a++) {
  const place = ((a + 0.5) / FINE) * (GRID - 1);
  LINE[a] = Math.min(GRID - 2, Math.floor(place));
  PART[a] = place - LINE[a];
}

// Values of the grid in between, for pixels from above.
function refined(values, out) {
  for (let b = 0; b < FINE; b++) {
    const up = FINE - 1 - b, row = LINE[up] * GRID, v = PART[up];
    for (let a = 0; a < FINE; a++) {
      const u = PART[a], g = row + LINE[a];
      out[b * FINE + a] = (1 - v) * ((1 - u) * values[g] + u * values[g + 1]) +
        v * ((1 - u) * values[g + GRID] + u * values[g + GRID + 1]);
    }
  }
  return out;
}

class Plane {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.small = new OffscreenCanvas(FINE, FINE);
    this.mask = new OffscreenCanvas(FINE, FINE);
    this.hatched = new OffscreenCanvas(1, 1);
    this.lines = new OffscreenCanvas(1, 1);
    this.marks = new OffscreenCanvas(1, 1);
    this.buffers = [];
    this.settled = new Float32Array(FINE * FINE);
    this.image = new ImageData(FINE, FINE);
    this.shadow = new ImageData(FINE, FINE);
    this.settledShare = 0;
    this.cursor = null;
  }

  resize() {
    const ratio = Math.min(2, window.devicePixelRatio || 1), size = Math.round(this.canvas.clientWidth * ratio);
    if (this.canvas.width !== size) this.canvas.width = this.canvas.height = size;
    this.ratio = ratio;
    this.size = size;
  }

  toPixel(x, y) { return [((x / REACH + 1) / 2) * this.size, ((1 - y / REACH) / 2) * this.size]; }
  fromEvent(event) {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width * 2 - 1) * REACH,
      (1 - (event.clientY - box.top) / box.height * 2) * REACH];
  }

  // A brief drawing keeps the settled region of the last one.
  draw(engine, points, classes, colors, isBrief = false) {
    this.resize();
    const pen = this.pen;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = colors.plane;
    pen.fillRect(0, 0, this.size, this.size);
    this.drawAxes(colors);
    if (engine) this.drawScores(engine, classes, colors, isBrief);
    this.drawPoints(engine, points, classes, colors);
    if (this.cursor) this.drawCursor(colors);
  }

  drawAxes(colors) {
    const pen = this.pen;
    pen.strokeStyle = colors.grid;
    pen.lineWidth = this.ratio;
    pen.beginPath();
    for (const v of [-1, -0.5, 0, 0.5, 1]) {
      const [x, y] = this.toPixel(v, v);
      pen.moveTo(x, 0), pen.lineTo(x, this.size), pen.moveTo(0, y), pen.lineTo(this.size, y);
    }
    pen.stroke();
  }

  drawScores(engine, classes, colors, isBrief) {
    const K = engine.nProblems, all = (ofCenter) => Array.from({ length: K }, (_, k) => engine.scores(k, ofCenter, GRID, REACH));
    const shown = all(false);
    if (!isBrief) {
      const radius = engine.problems().map((p) => p.radius);
      this.settled = refined(this.roomOf(all(true), radius, engine.norms(GRID, REACH)), this.settled);
    }
    this.shade(shown, classes, colors);
    if (engine.step === 0) return;
    if (K === 1) {
      this.contour(shown[0], -1, colors.ink, 1.2, [5, 4]);
      this.contour(shown[0], 1, colors.ink, 1.2, [5, 4]);
      this.contour(shown[0], 0, colors.ink, 2.4, []);
      return;
    }
    // The margins of each class against the rest, in its color; then where one class gives way to another.
    for (let k = 0; k < K; k++)
      for (const level of [-1, 1]) this.contour(shown[k], level, colors.classes[classes[k]], 1.2, [5, 4]);
    for (let k = 0; k < K; k++) {
      const lead = shown[k].map((s, g) => {
        let most = -Infinity;
        for (let j = 0; j < K; j++) if (j !== k && shown[j][g] > most) most = shown[j][g];
        return s - most;
      });
      this.contour(lead, 0, colors.ink, 2, []);
    }
  }

  // Strong color where every solution within the ball agrees, weak color and hatching where it may still change.
  shade(shown, classes, colors) {
    const { image, shadow, settled } = this;
    while (this.buffers.length < shown.length) this.buffers.push(new Float32Array(FINE * FINE));
    const fine = shown.map((values, k) => refined(values, this.buffers[k]));
    const color = new Uint32Array(image.data.buffer), alpha = new Uint32Array(shadow.data.buffer);
    const paint = classes.map((c) => colors.rgb[c][0] | (colors.rgb[c][1] << 8) | (colors.rgb[c][2] << 16));
    let sure = 0;
    for (let g = 0; g < FINE * FINE; g++) {
      let code = 0;
      if (fine.length === 1) code = fine[0][g] > 0 ? 1 : 0;
      else for (let k = 1; k < fine.length; k++) if (fine[k][g] > fine[code][g]) code = k;
      const isSure = settled[g] > 0;
      sure += isSure;
      color[g] = paint[code] | ((isSure ? 84 : 30) << 24);
      alpha[g] = isSure ? 0 : 0xff000000;
    }
    this.settledShare = sure / (FINE * FINE);
    this.small.getContext("2d").putImageData(image, 0, 0);
    this.mask.getContext("2d").putImageData(shadow, 0, 0);
    const pen = this.pen;
    pen.imageSmoothingEnabled = true;
    pen.drawImage(this.small, 0, 0, this.size, this.size);
    pen.drawImage(this.hatch(colors), 0, 0);
  }

  // By how much the scores of the center decide, whatever weights of the balls are the best: settled where positive.
  roomOf(center, radius, norms) {
    if (center.length === 1) return center[0].map((s, g) => Math.abs(s) - radius[0] * norms[g]);
    return norms.map((norm, g) => {
      let leader = 0;
      for (let k = 1; k < center.length; k++) if (center[k][g] > center[leader][g]) leader = k;
      let least = Infinity;
      for (let k = 0; k < center.length; k++)
        if (k !== leader)
          least = Math.min(least, center[leader][g] - center[k][g] - (radius[leader] + radius[k]) * norm);
      return least;
    });
  }

  hatch(colors) {
    if (this.hatched.width !== this.size) this.hatched = new OffscreenCanvas(this.size, this.size);
    this.drawLines(colors);
    const pen = this.hatched.getContext("2d");
    pen.globalCompositeOperation = "copy";
    pen.drawImage(this.lines, 0, 0);
    pen.globalCompositeOperation = "destination-in";
    pen.drawImage(this.mask, 0, 0, this.size, this.size);
    return this.hatched;
  }

  // The lines of the hatching, drawn once for a size and a color.
  drawLines(colors) {
    const drawn = `${this.size} ${this.ratio} ${colors.soft}`;
    if (this.linesDrawn === drawn) return;
    this.linesDrawn = drawn;
    this.lines = new OffscreenCanvas(this.size, this.size);
    const pen = this.lines.getContext("2d"), gap = 9 * this.ratio;
    pen.strokeStyle = colors.soft;
    pen.globalAlpha = 0.35;
    pen.lineWidth = this.ratio;
    pen.beginPath();
    for (let d = -this.size; d < this.size; d += gap) pen.moveTo(d, this.size), pen.lineTo(d + this.size, 0);
    pen.stroke();
  }

  // Marching squares, the pieces joined into lines, so that dashes run through.
  contour(values, level, color, width, dash) {
    const pen = this.pen, scale = this.size / (GRID - 1);
    const places = new Map(), links = new Map();
    const cross = (a, b, isUp) => {
      const name = 2 * (b * GRID + a) + isUp, from = values[b * GRID + a] - level;
      const to = values[isUp ? (b + 1) * GRID + a : b * GRID + a + 1] - level;
      if (from > 0 === to > 0) return -1;
      const s = from / (from - to);
      places.set(name, [(a + (isUp ? 0 : s)) * scale, this.size - (b + (isUp ? s : 0)) * scale]);
      return name;
    };
    const link = (a, b) => links.has(a) ? links.get(a).push(b) : links.set(a, [b]);
    for (let b = 0; b + 1 < GRID; b++)
      for (let a = 0; a + 1 < GRID; a++) {
        const g = b * GRID + a, above = values[g] > level;
        if (values[g + 1] > level === above && values[g + GRID] > level === above && values[g + GRID + 1] > level === above)
          continue;
        const ends = [cross(a, b, 0), cross(a + 1, b, 1), cross(a, b + 1, 0), cross(a, b, 1)].filter((e) => e >= 0);
        for (let e = 0; e + 1 < ends.length; e += 2) link(ends[e], ends[e + 1]), link(ends[e + 1], ends[e]);
      }
    pen.beginPath();
    const follow = (start) => {
      pen.moveTo(...places.get(start));
      for (let at = start, next; (next = links.get(at).pop()) !== undefined; at = next) {
        const back = links.get(next);
        back.splice(back.indexOf(at), 1);
        pen.lineTo(...places.get(next));
      }
    };
    for (const [name, others] of links) if (others.length === 1) follow(name);
    for (const [name, others] of links) if (others.length > 0) follow(name);
    pen.setLineDash(dash.map((d) => d * this.ratio));
    pen.strokeStyle = color;
    pen.lineWidth = width * this.ratio;
    pen.stroke();
    pen.setLineDash([]);
  }

  drawPoints(engine, points, classes, colors) {
    const pen = this.pen, r = (points.length > 200 ? 3.6 : 5) * this.ratio;
    const problems = engine && engine.step > 0 ? engine.problems() : [];
    this.drawMarks(points, r, colors);
    pen.drawImage(this.marks, 0, 0);
    pen.beginPath();
    points.forEach((p, i) => {
      if (!problems.some((problem) => Math.abs(problem.alpha[i]) > 1e-9)) return;
      const [x, y] = this.toPixel(p.x, p.y);
      pen.moveTo(x + r * 1.65, y);
      pen.arc(x, y, r * 1.65, 0, 2 * Math.PI);
    });
    pen.strokeStyle = colors.ink;
    pen.lineWidth = 1.3 * this.ratio;
    pen.stroke();
    if (problems.length === 0) return;
    engine.drawn.forEach((i, place) => {
      if (!points[i]) return;
      const [x, y] = this.toPixel(points[i].x, points[i].y);
      pen.beginPath();
      pen.arc(x, y, r * 2.6, 0, 2 * Math.PI);
      pen.strokeStyle = problems.some((p) => p.violated[place]) ? colors.hit : colors.soft;
      pen.lineWidth = 3 * this.ratio;
      pen.stroke();
    });
  }

  // The points themselves, drawn once for their places, a size and the colors.
  drawMarks(points, r, colors) {
    const drawn = [points, this.size, this.ratio, colors];
    if (this.marksDrawn?.every((value, k) => value === drawn[k])) return;
    this.marksDrawn = drawn;
    this.marks = new OffscreenCanvas(this.size, this.size);
    const pen = this.marks.getContext("2d");
    for (const p of points) drawMark(pen, p.c, ...this.toPixel(p.x, p.y), r, colors.classes[p.c], colors.plane, this.ratio);
  }

  drawCursor(colors) {
    const pen = this.pen, [x, y] = this.toPixel(...this.cursor), d = 9 * this.ratio;
    pen.beginPath();
    pen.moveTo(x - d, y), pen.lineTo(x + d, y), pen.moveTo(x, y - d), pen.lineTo(x, y + d);
    pen.strokeStyle = colors.ink;
    pen.lineWidth = 2 * this.ratio;
    pen.stroke();
  }
}

// A class has a shape as well as a color.
function drawMark(pen, code, x, y, r, color, edge, ratio) {
  pen.beginPath();
  if (code === 0) pen.arc(x, y, r, 0, 2 * Math.PI);
  else if (code === 1) pen.rect(x - r * 0.88, y - r * 0.88, r * 1.76, r * 1.76);
  else {
    const corners = code === 2 ? [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]] : [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]];
    corners.forEach(([a, b], k) => (k ? pen.lineTo(x + a * r, y + b * r) : pen.moveTo(x + a * r, y + b * r)));
    pen.closePath();
  }
  pen.fillStyle = color;
  pen.fill();
  pen.strokeStyle = edge;
  pen.lineWidth = ratio;
  pen.stroke();
}
