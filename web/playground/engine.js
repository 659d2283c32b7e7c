// The core, compiled to WebAssembly (cpp/playground/exports.cpp), behind names of the page.

const ALGORITHMS = {
  "pegasos": 0, "mini-batch": 0, "projected": 1, "averaged": 2, "perceptron": 3, "passive-aggressive": 4, "norma": 5,
  "dual-ascent": 6,
};
const KERNELS = { linear: 0, rbf: 1, polynomial: 2 };
const SAMPLINGS = { shuffle: 0, uniform: 1, sequential: 2 };

class Engine {
  static async start(encoded) {
    const bytes = Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0));
    const unused = () => { throw new Error("the core does not write"); };
    const imports = { wasi_snapshot_preview1: { fd_close: unused, fd_seek: unused, fd_write: unused } };
    const { instance } = await WebAssembly.instantiate(bytes, imports);
    instance.exports._initialize();
    return new Engine(instance.exports);
  }

  constructor(core) {
    this.core = core;
  }

  doubles(place, n) { return new Float64Array(this.core.memory.buffer, place, n); }
  integers(place, n) { return new Int32Array(this.core.memory.buffer, place, n); }

  // Points as pairs, one code from 0 on per point; classes without a point do not count.
  begin(points, codes, settings) {
    const n = codes.length, core = this.core;
    this.known = null;
    this.n = n;
    this.nClasses = Math.max(...codes) + 1;
    this.nProblems = this.nClasses === 2 ? 1 : this.nClasses;
    this.isLinear = settings.kernel === "linear";
    this.doubles(core.points(n), 2 * n).set(points);
    this.integers(core.classes(n), n).set(codes);
    core.begin(this.nClasses, ALGORITHMS[settings.algorithm], KERNELS[settings.kernel], SAMPLINGS[settings.sampling],
      settings.lam, settings.gamma, settings.degree, settings.algorithm === "mini-batch" ? settings.batch : 1,
      settings.size, 1.0, settings.seed);
    this.lam = settings.lam;
    this.norm = core.largest_norm();
  }

  advance(nSteps) {
    this.core.advance(nSteps);
    this.known = null;
  }

  look() {
    this.core.look();
    this.known = null;
  }

  get step() { return this.core.step(); }
  get eta() { return this.core.eta(); }
  get drawn() { return [...this.integers(this.core.drawn(), this.core.n_drawn())]; }

  // Of one problem: weights (the last is the intercept's) for the linear kernel, and what every kernel has.
  problem(k) {
    const core = this.core, count = core.n_drawn();
    return {
      weights: this.isLinear ? [...this.doubles(core.weights(k), 3)] : null,
      coefficients: this.doubles(core.coefficients(k), this.n),
      alpha: this.doubles(core.alpha(k), this.n),
      margins: [...this.doubles(core.margins(k), count)],
      violated: [...this.integers(core.violated(k), count)].map(Boolean),
      primal: core.primal(k), dual: core.dual(k),
      bestPrimal: core.best_primal(k), bestDual: core.best_dual(k), radius: core.radius(k),
    };
  }

  // Read once per state, since several parts of the page ask; again when memory has grown, which detaches all views.
  problems() {
    const memory = this.core.memory.buffer;
    if (this.known === null || this.seen !== memory) {
      this.known = Array.from({ length: this.nProblems }, (_, k) => this.problem(k));
      this.seen = memory;
    }
    return this.known;
  }

  scores(k, ofCenter, size, reach) {
    return this.doubles(this.core.scores(k, ofCenter ? 1 : 0, size, reach), size * size).slice();
  }
  norms(size, reach) { return this.doubles(this.core.norms(size, reach), size * size).slice(); }

  // What the paper proves of the averaged iterate, in expectation: (sqrt(lam) + R)^2 (1 + ln t) / (2 lam t).
  bound(t) { return this.nProblems * (Math.sqrt(this.lam) + this.norm) ** 2 * (1 + Math.log(t)) / (2 * this.lam * t); }
}
