"""Novelty on kddcup99 and many labels on reuters21578, beside scikit-learn.

Run as ``PEGASOS_DATA=folder python examples/real_tasks.py``; the folder holds kddcup99.npz and reuters21578.npz.
"""

import os
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import IsolationForest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, OneClassSVM

from pegasos import KernelPegasosOneClass, PegasosClassifier, PegasosOneClass


def novelty(folder: Path, n_normal: int = 5000, n_test: int = 20_000) -> None:
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
    for name, model in {
        "KernelPegasosOneClass": KernelPegasosOneClass(gamma=gamma, nu=0.02),
        "Nystroem + PegasosOneClass": make_pipeline(nystroem, PegasosOneClass(nu=0.02)),
        "OneClassSVM": OneClassSVM(gamma=gamma, nu=0.02),
        "IsolationForest": IsolationForest(random_state=0),
    }.items():
        begun = perf_counter()
        model.fit(rows)
        seconds = perf_counter() - begun
        area = roc_auc_score(is_attack[test], -model.decision_function(new))
        print(f"kddcup99  {name:28} AUC {area:.4f}  {seconds:6.2f} s")


def labels(folder: Path) -> None:
    """Topics of news: F1, and seconds."""
    with np.load(folder / "reuters21578.npz", allow_pickle=False) as data:
        shape = tuple(data["shape"])
        X = sp.csr_matrix((data["data"].astype(np.float64), data["indices"], data["indptr"]), shape=shape)
        indices, starts, split = data["Y_indices"], data["Y_indptr"], data["split"]
    n_labels = int(indices.max()) + 1
    Y = sp.csr_matrix((np.ones(len(indices), np.int8), indices, starts), shape=(X.shape[0], n_labels))
    X = TfidfTransformer(sublinear_tf=True).fit(X[split == 0]).transform(X)
    for name, model in {
        "PegasosClassifier": PegasosClassifier(C=1.0, loss="squared_hinge", random_state=0),
        "OneVsRest(LinearSVC)": OneVsRestClassifier(LinearSVC(C=1.0)),
    }.items():
        begun = perf_counter()
        model.fit(X[split == 0], Y[split == 0])
        seconds, found = perf_counter() - begun, model.predict(X[split == 1])
        micro, macro = (f1_score(Y[split == 1], found, average=kind, zero_division=0) for kind in ("micro", "macro"))
        print(f"reuters21578  {name:22} micro F1 {micro:.4f}  macro F1 {macro:.4f}  {seconds:6.2f} s")


if __name__ == "__main__":
    if "PEGASOS_DATA" not in os.environ:
        sys.exit("PEGASOS_DATA must name a folder with kddcup99.npz and reuters21578.npz.")
    novelty(Path(os.environ["PEGASOS_DATA"]))
    labels(Path(os.environ["PEGASOS_DATA"]))
