// Points: samples, files, and their place in a link. A coordinate is a multiple of 1/8192, so that a link is exact.

const UNIT = 8192, REACH = 1.25, MOST_POINTS = 2000;

const rounded = (v) => Math.round(Math.max(-REACH, Math.min(REACH, v)) * UNIT) / UNIT;

// A small generator (mulberry32): samples are the same on every machine.
function generator(seed) {
  const uniform = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let z = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z;
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}

const SAMPLES = {
  clouds: ({ normal }, i) => {
    const c = i % 2;
    return [c, (c ? 0.42 : -0.42) + 0.27 * normal(), (c ? 0.3 : -0.3) + 0.27 * normal()];
  },
  moons: ({ normal, uniform }, i) => {
    const c = i % 2, a = Math.PI * uniform();
    const x = c ? 1 - Math.cos(a) : Math.cos(a), y = c ? 0.5 - Math.sin(a) : Math.sin(a);
    return [c, 0.62 * (x - 0.5) + 0.05 * normal(), 0.75 * (y - 0.25) + 0.05 * normal()];
  },
  xor: ({ uniform }) => {
    const far = () => (uniform() < 0.5 ? -1 : 1) * (0.12 + 0.78 * uniform());
    const x = far(), y = far();
    return [x * y > 0 ? 1 : 0, x, y];
  },
  circles: ({ normal, uniform }, i) => {
    const c = i % 2, a = 2 * Math.PI * uniform(), r = (c ? 0.35 : 0.85) + 0.06 * normal();
    return [c, r * Math.cos(a), r * Math.sin(a)];
  },
  outlier: ({ normal }, i) => {
    if (i === 0) return [1, -0.75, -0.45];
    const c = i % 2;
    return [c, (c ? 0.55 : -0.55) + 0.17 * normal(), 0.3 * normal()];
  },
  three: ({ normal }, i) => {
    const c = i % 3, a = Math.PI / 2 + (2 * Math.PI * c) / 3;
    return [c, 0.62 * Math.cos(a) + 0.19 * normal(), 0.62 * Math.sin(a) - 0.1 + 0.19 * normal()];
  },
};

function samplePoints(name, n = name === "outlier" ? 41 : 90) {
  const random = generator(20070620);
  return Array.from({ length: n }, (_, i) => {
    const [c, x, y] = SAMPLES[name](random, i);
    return { x: rounded(x), y: rounded(y), c };
  });
}

// Lines of x, y, class, separated by commas, semicolons or spaces; the box of the points is scaled into the picture.
function readPoints(text) {
  const found = [], names = [];
  for (const [number, line] of text.split(/\r?\n/).entries()) {
    if (!line.trim() || line.trim().startsWith("#")) continue;
    const cells = line.trim().split(/[,;\s]+/);
    const [x, y] = cells.slice(0, 2).map(Number);
    if (cells.length < 3 || !Number.isFinite(x) || !Number.isFinite(y)) {
      if (found.length === 0 && number === 0) continue;  // names of columns
      throw new Error(`Line ${number + 1} is not "x, y, class": ${line.slice(0, 40)}`);
    }
    if (!names.includes(cells[2])) names.push(cells[2]);
    found.push({ x, y, c: cells[2] });
  }
  names.sort((a, b) => (Number(a) - Number(b)) || (a < b ? -1 : 1));
  if (names.length > 4) throw new Error(`There is room for 4 classes; the file has ${names.length}.`);
  if (found.length > MOST_POINTS) throw new Error(`There is room for ${MOST_POINTS} points; got ${found.length}.`);
  if (names.length < 2) throw new Error("The file must have points of at least two classes.");
  const middle = (key) => (Math.min(...found.map((p) => p[key])) + Math.max(...found.map((p) => p[key]))) / 2;
  const cx = middle("x"), cy = middle("y");
  const far = Math.max(...found.map((p) => Math.max(Math.abs(p.x - cx), Math.abs(p.y - cy)))) || 1;
  return found.map((p) => ({ x: rounded((p.x - cx) / far), y: rounded((p.y - cy) / far), c: names.indexOf(p.c) }));
}

function packPoints(points) {
  const bytes = new Uint8Array(5 * points.length), view = new DataView(bytes.buffer);
  points.forEach((p, i) => {
    view.setInt16(5 * i, Math.round(p.x * UNIT), true);
    view.setInt16(5 * i + 2, Math.round(p.y * UNIT), true);
    view.setUint8(5 * i + 4, p.c);
  });
  let text = "";
  for (const b of bytes) text += String.fromCharCode(b);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unpackPoints(packed) {
  const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer), points = [];
  for (let at = 0; at + 5 <= bytes.length && points.length < MOST_POINTS; at += 5)
    points.push({
      x: rounded(view.getInt16(at, true) / UNIT), y: rounded(view.getInt16(at + 2, true) / UNIT),
      c: Math.min(3, view.getUint8(at + 4)),
    });
  return points;
}

const DEFAULTS = {
  algorithm: "pegasos", kernel: "linear", sampling: "shuffle", lam: 0.01, gamma: 4, degree: 3, batch: 8, size: 0.1,
  seed: 0,
};
const LIMITS = {
  lam: [1e-4, 1], gamma: [0.25, 64], degree: [2, 5], batch: [2, 32], size: [1e-3, 10], seed: [0, 4294967295],
};

function linkOf(settings, points, step) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(settings)) if (value !== DEFAULTS[key]) words.set(key, value);
  if (step) words.set("t", step);
  words.set("p", packPoints(points));
  return words.toString();
}

// What a link says; whatever it says wrongly is left at its default.
function readLink(hash) {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  if (!words.has("p")) return null;
  const settings = { ...DEFAULTS };
  const known = { algorithm: ALGORITHMS, kernel: KERNELS, sampling: SAMPLINGS };
  for (const [key, names] of Object.entries(known))
    if (words.has(key) && Object.hasOwn(names, words.get(key))) settings[key] = words.get(key);
  for (const [key, [low, high]] of Object.entries(LIMITS)) {
    const value = Number(words.get(key) ?? NaN);
    if (Number.isFinite(value)) settings[key] = Math.min(high, Math.max(low, value));
  }
  for (const key of ["degree", "batch", "seed"]) settings[key] = Math.round(settings[key]);
  let points = [];
  try { points = unpackPoints(words.get("p")); } catch { return null; }
  return { settings, points, step: Math.min(1e6, Math.max(0, Math.floor(Number(words.get("t")) || 0))) };
}
