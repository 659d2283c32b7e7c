"""Regression on covtype, novelty detection on kddcup99, multi-label texts of reuters21578; compared with scikit-learn.

Run as ``PEGASOS_DATA=folder python examples/real_tasks.py [regression] [novelty] [labels]``; the folder holds
covtype.npz, kddcup99.npz and reuters21578.npz. Each task draws a figure into ``docs/images`` and writes its numbers to
``benchmarks/results/real_tasks.json``, from which the guides take them. Times are processor seconds.
"""

import json
import os
import sys
from pathlib import Path
from time import process_time
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import f1_score, roc_auc_score, roc_curve
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR, OneClassSVM

from pegasos import KernelPegasosOneClass, PegasosClassifier, PegasosOneClass, PegasosRegressor
from pegasos.plots import PredictionsDisplay

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
RESULTS = ROOT / "benchmarks" / "results" / "real_tasks.json"


def regression(folder: Path, n_train: int = 40_000, n_test: int = 20_000) -> dict[str, Any]:
    """The elevation of a place from its other 53 columns: R2, seconds, and the coverage of two quantiles."""
    with np.load(folder / "covtype.npz", allow_pickle=False) as data:
        some = np.random.default_rng(0).permutation(len(data["y"]))[: n_train + n_test]
        X = data["X"][some].astype(np.float64)
    y, X = X[:, 0], X[:, 1:]
    scaler = StandardScaler().fit(X[:n_train])
    train, test = np.split(scaler.transform(X), [n_train])
    middle, spread = y[:n_train].mean(), y[:n_train].std()
    target, truth = np.split((y - middle) / spread, [n_train])
    ours = PegasosRegressor(1e-5, epsilon=0.1, random_state=0)
    squared = PegasosRegressor(1e-5, epsilon=0.1, loss="squared_epsilon_insensitive", random_state=0)
    C, found = 1.0 / (1e-5 * n_train), {}
    for name, model in {
        "PegasosRegressor": ours,
        "LinearSVR": LinearSVR(C=C, epsilon=0.1, random_state=0),
        "PegasosRegressor, squared": squared,
        "LinearSVR, squared": LinearSVR(C=C, epsilon=0.1, loss="squared_epsilon_insensitive", dual=False),
    }.items():
        begun = process_time()
        model.fit(train, target)
        found[name] = {"seconds": process_time() - begun, "R2": model.score(test, truth)}
        print(f"covtype  {name:26} R2 {found[name]['R2']:.4f}  {found[name]['seconds']:6.2f} s", flush=True)
    low, high = (
        PegasosRegressor(1e-5, loss="quantile", quantile=q, random_state=0).fit(train, target).predict(test)
        for q in (0.1, 0.9)
    )
    inside = np.mean((low <= truth) & (truth <= high))
    print(f"covtype  quantiles 0.1 and 0.9: {inside:.3f} of the held-out targets lie between, 0.8 expected")
    drawn = PredictionsDisplay.from_estimator(ours, test[:1000], truth[:1000])
    title = (
        f"elevation of covtype, held out: R2 {ours.score(test, truth):.2f}, gap {ours.certificate_.relative_gap:.0e}"
    )
    drawn.plot(title=title).figure_.savefig(IMAGES / "real_regression.png", dpi=80)
    return {"models": found, "between the quantiles": float(inside)}


def novelty(folder: Path, n_normal: int = 5000, n_test: int = 20_000) -> dict[str, Any]:
    """Learn normal connections, find attacks among others: the area under the curve, and seconds."""
    with np.load(folder / "kddcup99.npz", allow_pickle=False) as data:
        parts = data["data"].astype(np.float64), data["indices"], data["indptr"]
        X = sp.csr_matrix(parts, shape=tuple(data["shape"]))
        is_attack = data["y"] != bytes(data["class_names__txt"]).decode("utf8").split("\0").index("normal")
    random = np.random.default_rng(0)
    normal = random.permutation(np.flatnonzero(~is_attack))
    train = normal[:n_normal]
    test = random.choice(np.setdiff1d(np.arange(X.shape[0]), train), n_test, replace=False)
    dense = [np.log1p(X[part].toarray()) for part in (train, test)]
    scaler = StandardScaler().fit(dense[0])
    rows, new = (scaler.transform(part) for part in dense)
    gamma = 1.0 / rows.shape[1]
    nystroem = Nystroem(gamma=gamma, n_components=300, random_state=0)
    figure, ax = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
    areas = {}
    for name, model in {
        "KernelPegasosOneClass": KernelPegasosOneClass(gamma=gamma, nu=0.02),
        "Nystroem + PegasosOneClass": make_pipeline(nystroem, PegasosOneClass(nu=0.02)),
        "OneClassSVM": OneClassSVM(gamma=gamma, nu=0.02),
        "IsolationForest": IsolationForest(random_state=0),
    }.items():
        begun = process_time()
        model.fit(rows)
        seconds = process_time() - begun
        found = -model.decision_function(new)
        area = areas[name] = float(roc_auc_score(is_attack[test], found))
        alarms, hits, _ = roc_curve(is_attack[test], found)
        ax.plot(alarms, hits, label=f"{name}: AUC {area:.4f}")
        print(f"kddcup99  {name:28} AUC {area:.4f}  {seconds:6.2f} s")
    ax.set(xlabel="share of normal connections called novel", ylabel="share of attacks found", xlim=(0.0, 0.2))
    ax.set_title("kddcup99, learned from 5,000 normal connections")
    ax.legend(frameon=False, fontsize="small")
    figure.savefig(IMAGES / "real_novelty.png", dpi=80)
    return areas


def labels(folder: Path) -> dict[str, Any]:
    """Topics of news: F1, and seconds."""
    with np.load(folder / "reuters21578.npz", allow_pickle=False) as data:
        shape = tuple(data["shape"])
        X = sp.csr_matrix((data["data"].astype(np.float64), data["indices"], data["indptr"]), shape=shape)
        indices, starts, split = data["Y_indices"], data["Y_indptr"], data["split"]
    n_labels = int(indices.max()) + 1
    Y = sp.csr_matrix((np.ones(len(indices), np.int8), indices, starts), shape=(X.shape[0], n_labels))
    X = TfidfTransformer(sublinear_tf=True).fit(X[split == 0]).transform(X)
    by_topic, scored = {}, {}
    for name, model in {
        "PegasosClassifier": PegasosClassifier(C=1.0, loss="squared_hinge", random_state=0),
        "OneVsRest(LinearSVC)": OneVsRestClassifier(LinearSVC(C=1.0)),
    }.items():
        begun = process_time()
        model.fit(X[split == 0], Y[split == 0])
        seconds, found = process_time() - begun, model.predict(X[split == 1])
        micro, macro = (f1_score(Y[split == 1], found, average=kind, zero_division=0) for kind in ("micro", "macro"))
        by_topic[name] = f1_score(Y[split == 1], found, average=None, zero_division=0)
        scored[name] = {"micro": float(micro), "macro": float(macro)}
        print(f"reuters21578  {name:22} micro F1 {micro:.4f}  macro F1 {macro:.4f}  {seconds:6.2f} s")

    n_texts = np.asarray(Y[split == 0].sum(axis=0)).ravel()
    figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for mark, (name, scores) in zip("o+", by_topic.items(), strict=True):
        ax.scatter(n_texts, scores, s=22, marker=mark, alpha=0.7, label=name)
    ax.set(xscale="log", xlabel="training texts of a topic", ylabel="F1 of the topic on 3,299 test texts")
    ax.set_title(f"reuters21578: {n_labels} topics, one problem each")
    ax.legend(frameon=False)
    figure.savefig(IMAGES / "real_labels.png", dpi=80)
    return scored


TASKS = {"regression": regression, "novelty": novelty, "labels": labels}

if __name__ == "__main__":
    if "PEGASOS_DATA" not in os.environ:
        sys.exit("PEGASOS_DATA must name a folder with covtype.npz, kddcup99.npz and reuters21578.npz.")
    for task in sys.argv[1:] or TASKS:
        known = json.loads(RESULTS.read_text(encoding="utf8")) if RESULTS.exists() else {}
        known[task] = TASKS[task](Path(os.environ["PEGASOS_DATA"]))
        RESULTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf8")
