// The same run as a script of the Python library.

const STEPS_IN_PYTHON = 100;

function kernelWords(s) {
  if (s.kernel === "linear") return ['"linear"'];
  if (s.kernel === "rbf") return ['"rbf"', `gamma=${s.gamma}`];
  return ['"poly"', `degree=${s.degree}`, `gamma=${s.gamma}`, "coef0=1.0"];
}

// The learner of an online algorithm: its class and its arguments. Null where the library has none.
function learnerOf(s) {
  if (s.sampling === "uniform") return null;
  const order = s.sampling === "sequential" ? ["shuffle=False"] : [];
  if (s.algorithm === "norma") return ["Norma", [...kernelWords(s), `eta=${s.size}`, `lam=${s.lam}`, "tau=None", ...order]];
  if (s.algorithm === "perceptron" && s.kernel !== "linear") return ["KernelPerceptron", [...kernelWords(s), ...order]];
  if (s.kernel !== "linear") return null;
  if (s.algorithm === "perceptron") return ["Perceptron", ['prediction="last"', ...order]];
  return ["PassiveAggressive", [`C=${s.size}`, ...order]];
}

function pythonOf(s, points, codes) {
  const imports = ["import numpy as np", "import pegasos"], loop = [];
  const words = [`seed=${s.seed}`, `n_steps=${STEPS_IN_PYTHON}`];
  if (s.algorithm === "dual-ascent") {
    const [name, kernel] = s.kernel === "linear" ? ["PegasosClassifier", []] : ["KernelPegasosClassifier", kernelWords(s)];
    loop.push("# Dual ascent ends at the solution of this fit.");
    loop.push(`model = pegasos.${name}(${[...kernel, `lam=${s.lam}`, "tol=1e-6"].join(", ")}).fit(X, y)`, "print(model.certificate_)");
  } else if (new Set(codes).size > 2) {
    loop.push("# Several classes are one run per class, against the rest; here is the first.");
    loop.push(...pythonOf(s, [], [0, 1]).split("\n").filter((line) => !/^(X|y) = /.test(line)).map((line) => line.replaceAll("X, y", "X, y == 0")));
    return withData(imports, loop, points, codes);
  } else if (["perceptron", "passive-aggressive", "norma"].includes(s.algorithm)) {
    const learner = learnerOf(s);
    if (!learner) loop.push("# The library does not have this learner with this kernel and order.");
    else {
      imports.push(`from pegasos.online import ${learner[0]}`);
      loop.push(`learner = ${learner[0]}(${learner[1].join(", ")})`, ...printed(`pegasos.steps(X, y, learner, ${words.join(", ")})`));
    }
  } else {
    if (s.algorithm === "projected") words.unshift("projection=True");
    if (s.algorithm === "mini-batch") words.unshift(`batch_size=${s.batch}`);
    if (s.sampling !== "shuffle") words.unshift(`sampling="${s.sampling}"`);
    if (s.kernel === "rbf") words.unshift(`kernel=pegasos.kernels.RBF(${s.gamma})`);
    if (s.kernel === "polynomial") words.unshift(`kernel=pegasos.kernels.Polynomial(${s.degree}, gamma=${s.gamma}, coef0=1.0)`);
    if (s.kernel !== "linear") imports.push("import pegasos.kernels");
    const call = `pegasos.steps(X, y, lam=${s.lam}, ${words.join(", ")})`;
    if (s.algorithm !== "averaged") loop.push(...printed(call));
    else {
      const what = s.kernel === "linear" ? "coef" : "alpha";
      loop.push(`steps = list(${call})`, `iterates = [0 * steps[0].${what}] + [step.${what} for step in steps]`, "print(np.mean(iterates[:-1], axis=0))");
    }
  }
  return withData(imports, loop, points, codes);
}

const printed = (call) => [`for step in ${call}:`, "    print(step.number, step.rows, step.margins, step.violated, step.coef)"];

function withData(imports, loop, points, codes) {
  const moved = loop.filter((line) => /^(import|from) /.test(line) && !imports.includes(line));
  const rest = loop.filter((line) => line && !/^(import|from) /.test(line));
  const rows = points.map((p) => `[${p.x}, ${p.y}]`).join(", ");
  return [...imports, ...moved, "", `X = np.array([${rows}])`, `y = np.array([${codes.join(", ")}])`, ...rest].join("\n");
}
