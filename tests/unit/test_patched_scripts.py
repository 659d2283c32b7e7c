"""Short scripts as people write them: under the patch they find what they find without it."""

import numpy as np
import pytest

import pegasos

SCRIPTS = {
    "separating plane": """
X, y = datasets.make_blobs(60, centers=2, random_state=6)
model = svm.SVC(kernel="linear", C=1000).fit(X, y)
found = model.decision_function(X), model.support_vectors_
""",
    "weighted rows": """
X, y = datasets.make_blobs(40, centers=2, cluster_std=4.0, random_state=1)
weights = np.where(y == 1, 5.0, 0.5)
found = (svm.SVC(gamma=0.1).fit(X, y, sample_weight=weights).decision_function(X),)
""",
    "unbalanced classes": """
X, y = datasets.make_blobs([200, 20], centers=[[0, 0], [2, 2]], cluster_std=[1.5, 0.5], random_state=0)
found = tuple(svm.SVC(kernel="linear", class_weight=w).fit(X, y).coef_ for w in (None, {1: 10}, "balanced"))
""",
    "own kernel": """
X, y = datasets.load_iris(return_X_y=True)
M = np.array([[2.0, 0], [0, 1.0]])
model = svm.SVC(kernel=lambda A, B: A @ M @ B.T).fit(X[:, :2], y)
found = (model.decision_function(X[:, :2]),)
""",
    "margins for two C": """
X = np.r_[np.random.RandomState(0).randn(20, 2) - [2, 2], np.random.RandomState(1).randn(20, 2) + [2, 2]]
y = [0] * 20 + [1] * 20
found = tuple(svm.SVC(kernel="linear", C=C).fit(X, y).coef_ for C in (1.0, 0.05))
""",
    "exclusive or": """
X = np.random.RandomState(0).randn(200, 2)
y = np.logical_xor(X[:, 0] > 0, X[:, 1] > 0)
model = svm.NuSVC(gamma="auto").fit(X, y)
found = (model.score(X, y), np.sign(model.decision_function(X))[np.abs(model.decision_function(X)) > 0.05])
""",
    "regression with three kernels": """
X = np.sort(5 * np.random.RandomState(0).rand(40, 1), axis=0)
y = np.sin(X).ravel()
models = [svm.SVR(C=100, gamma=0.1, epsilon=0.1), svm.SVR(kernel="poly", C=1, gamma="auto", degree=2, coef0=1)]
found = tuple(model.fit(X, y).predict(X) for model in models)
""",
    "novelty": """
random = np.random.RandomState(42)
X = np.r_[0.3 * random.randn(100, 2) + 2, 0.3 * random.randn(100, 2) - 2]
model = svm.OneClassSVM(nu=0.1, gamma=0.1).fit(X)
found = (model.decision_function(random.uniform(-4, 4, (20, 2))),)
""",
    "grid search in a pipeline": """
X, y = datasets.load_digits(return_X_y=True)
pipe = pipeline.make_pipeline(preprocessing.StandardScaler(), svm.SVC())
search = model_selection.GridSearchCV(pipe, {"svc__C": [1, 10], "svc__gamma": [1e-3, 1e-2]}, cv=3).fit(X[:300], y[:300])
found = (search.cv_results_["mean_test_score"], search.predict(X[300:600]) == y[300:600])
""",
    "linear machine and its scores": """
X, y = datasets.load_iris(return_X_y=True)
X = preprocessing.scale(X)
model = svm.LinearSVC(C=0.5, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
found = (model.coef_, model.intercept_)
""",
    "pairs and rest": """
X, y = [[0], [1], [2], [3]], [0, 1, 2, 3]
model = svm.SVC(decision_function_shape="ovo").fit(X, y)
found = model.decision_function([[1]]), model.set_params(decision_function_shape="ovr").decision_function([[1]])
""",
    "precomputed kernel": """
X, y = datasets.load_wine(return_X_y=True)
X = preprocessing.scale(X)
gram = X[:120] @ X[:120].T
found = (svm.SVC(kernel="precomputed").fit(gram, y[:120]).predict(X[120:] @ X[:120].T),)
""",
}


def found_by(script):
    names = {}
    head = "import numpy as np\nfrom sklearn import datasets, model_selection, pipeline, preprocessing, svm\n"
    exec(compile(head + script, "script", "exec"), names)
    return names["svm"].SVC.__module__.split(".")[0], names["found"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_finds_the_same_under_the_patch(name):
    trained_by, theirs = found_by(SCRIPTS[name])
    assert trained_by == "sklearn"
    with pegasos.patch_sklearn():
        trained_by, ours = found_by(SCRIPTS[name])
    assert trained_by == "pegasos"
    for expected, result in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(np.asarray(result, float), np.asarray(expected, float), rtol=0.01, atol=0.01)
