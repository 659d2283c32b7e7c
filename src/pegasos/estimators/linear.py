"""The linear support vector machine with its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

from pegasos.estimators._training import TrainedClassifier
from pegasos.estimators.parameters import DEFAULT_LAM, ClassificationParameters
from pegasos.estimators.reading import ReadsRows
from pegasos.estimators.sources import TrainsOnSources
from pegasos.layouts import classes as layout


@dataclass(eq=False, repr=False)
class PegasosClassifier(ReadsRows, TrainsOnSources, TrainedClassifier, ClassificationParameters):
    """Linear support vector machine that proves how good its solution is.

    Minimizes ``lam/2 |w|^2 + (1/N) sum_i cost_i loss(1 - y_i (<w, x_i> + b))`` and stops when the result is
    *provably* within a relative duality gap of ``tol``, or at ``max_iter`` or ``time_budget``; it always returns the
    certificate it reached.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the regularization.
    C : float, optional
        The other convention: sets ``lam = 1 / (C N)``, N being the sum of the sample weights. Give one of the two.
        ``inf`` requests a hard margin: if the classes cannot be separated, the fit proves that and ends.
    nu : float, optional
        Instead of ``lam`` and ``C``: an upper bound on the share of margin errors and a lower bound on that of support
        vectors, as in scikit-learn's `NuSVC`. Each problem gets the lam whose dual point adds up to ``nu N``; see
        ``solved_lam_``.
    loss : {"hinge", "squared_hinge", "huber_hinge"}, default="hinge"
        The loss of a sample whose margin falls short of 1 by r: "hinge" is ``max(0, r)``; "squared_hinge" is its
        square, the default of scikit-learn's LinearSVC; "huber_hinge" is ``r^2 / (2 smoothing)`` up to ``r =
        smoothing`` and the line ``r - smoothing / 2`` beyond.
    smoothing : float, default=0.5
        The r at which "huber_hinge" becomes linear; ignored by the other losses.
    solver : {"auto", "pegasos", "dual", "cutting_plane", "interior_point"}, default="auto"
        "pegasos" is the paper's algorithm alone; "dual" is dual coordinate ascent; "cutting_plane" is
        the method of SVM-Perf, one pass over the rows for each plane; "interior_point" is the textbook method for
        quadratic programs on all samples, for up to about 4,000 features or samples; "auto" starts with Pegasos where
        that is enough, continues with dual ascent once that closes the gap faster, and switches to an interior-point
        method if that is slow. With many samples and few features it uses Newton's method on a smoothed problem.
    batch_size : int or "all", default=1
        Rows per Pegasos step; "all" is the deterministic sub-gradient method.
    sampling : {"shuffle", "uniform", "balanced", "sequential"}, default="shuffle"
        The order of Pegasos: shuffled epochs, uniformly at random as in the paper, alternating between the two sides
        of each problem, or the given order, epoch after epoch. Balanced sampling does not change the objective: a
        sample that is drawn more often counts less.
    projection : bool, default=False
        Project the Pegasos iterates onto a ball that contains the optimum.
    average : {None, "uniform", "tail"}, default=None
        Return the last Pegasos iterate, the mean of all, or the mean since the last epoch that is a power of two. In a
        stream, the tail restarts after blocks 1, 2, 4, ...; the previous mean then counts for an eighth of its steps.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    regularize_intercept : bool, default=True
        The intercept is the weight of a constant feature of value ``intercept_scaling``, regularized like the others.
        False: it is unregularized, as in the textbook and in LIBSVM; the certificate covers it too. It must be
        True for ``solver="pegasos"`` and in a stream.
    intercept_scaling : float, default=1.0
        A larger value regularizes the intercept less.
    multi_class : {"auto", "ovr", "ovo", "crammer_singer"}, default="ovr"
        How more than two classes are handled. "ovr": one problem per class, against the rest, in parallel threads.
        "ovo": one problem per pair of classes, on the samples of those two; ``lam`` has the same meaning as for two
        classes alone, ``C`` the same as in LIBSVM. "crammer_singer": one joint problem,
        ``lam/2 |W|^2 + (1/N) sum_i cost_i max_r ([r != y_i] + <w_r - w_y, x_i>)``; for two classes it is solved for
        w_1 - w_0, as an ordinary problem with half the lam. "auto": "ovo" for dense rows of 3 to 30 classes;
        otherwise, in streams and for sources of blocks, "ovr".
    class_weight : dict, "balanced" or None, default=None
        Factor on the loss of each class; "balanced" is ``N / (n_classes * N_class)``.
    prior : fitted linear classifier, (coef, intercept) or None, default=None
        A model learned from other data: the weights are regularized toward it, ``lam/2 |w - w0|^2``, instead of toward
        0. Any fitted model with ``coef_``, ``intercept_`` and ``classes_``. A large ``lam`` keeps the prior,
        a small one forgets it. Features are matched by name if the prior and X have names, classes by label. In a
        stream, the prior of the first call is used.
    tol : float or None, default=1e-3
        The relative duality gap at which the fit ends. None: run ``max_iter`` epochs.
    max_iter : int, optional
        Maximum number of epochs; an epoch has as many visits as there are samples. By default 100,000 if ``tol`` ends
        the fit, far more than "auto" needs; 1,000 for "pegasos" and "cutting_plane", which converge slowly, and for
        ``tol=None``.
    max_steps : int, optional
        With ``solver="pegasos"``: the fit ends after this many steps, also in the middle of an epoch; every problem of
        several classes takes as many. ``tol`` (checked at ends of epochs), ``max_iter`` and ``time_budget`` may end it
        earlier: with ``tol=None`` and no ``max_iter`` it takes exactly this many, and its weights are those of the last
        of as many `pegasos.steps`.
    time_budget : float, optional
        Time limit in seconds. It is kept to within one chunk of work, about 0.05 s, or one step of Newton's method: a
        few passes over the data.
    certified_share : float, optional
        Continue after ``tol`` is reached until this share of the training data, by sample weight, has a certified
        prediction: one that no exact solution changes (`certified`). The gap then falls below ``tol`` as far as
        necessary, within ``max_iter`` and ``time_budget``; ``status_`` states the share reached. Use 0.99 if
        predictions matter more than the objective.
    probability : bool, "sigmoid" or "isotonic", default=False
        Whether to fit `predict_proba` as well, on scores of five folds (fewer if a class has fewer samples), so that a
        fit takes six times as long: by Platt's sigmoid (True or "sigmoid"), or by isotonic regression, which needs
        a few thousand samples. Each fit gets an equal share of ``time_budget``.
    warm_start : bool, default=False
        Start the next fit where the last one ended: with the same number of rows at its dual point. With more rows, or
        fewer, the first ones keep their dual variables and the others get those that correspond to the weights; if the
        chosen method does not benefit, the fit starts from zero. ``solver="pegasos"`` continues from the weights and
        the step count.
    n_jobs : int, optional
        Number of threads. Several classes are several problems, which run in parallel with the same result for any
        number; a single problem splits its passes over the rows, and rounds its sums differently for another number.
        By default several problems share all processors, except in a joblib worker, and a single one has one thread.
    random_state : int, RandomState or None, default=None
        Seed of the order in which rows are visited.
    verbose : int, default=0
        1: print a line for each certificate.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features); with "ovo" (n_pairs, n_features)
        Pairs in the order (0, 1), (0, 2), ..., (1, 2), ...; a score is positive for the second class of a pair, as for
        two classes.
    intercept_ : array of shape (1,) or (n_classes,); with "ovo" (n_pairs,)
    classes_ : array of shape (n_classes,)
    certificate_ : Certificate
        primal, dual, gap, relative_gap, weight_radius, and one part for each binary problem.
    status_ : str
        Why the fit ended, and what is proved.
    alpha_ : array of shape (n_rows,) or (n_classes, n_rows); with "ovo" a list of n_pairs arrays
        The dual point: 0 <= alpha_i <= cost_i, or any alpha_i >= 0 for "squared_hinge". That of a pair has an entry for
        each row of its two classes, in the order of the rows: n_classes - 1 numbers per row in all. For
        "crammer_singer" the sum over the classes is at most cost_i, and the entry of the row's own class is 0.
    support_ : array of int
        Indices of samples with alpha above 0, for any class. A smaller ``tol`` leaves fewer beyond the margin.
    margin_ : float, or array of shape (n_problems,)
        The geometric margin of the training data: the smallest signed distance from the boundary, negative
        if a sample is on the wrong side.
    trace_ : Trace
        Columns step, epoch, seconds, primal, dual, gap: ``dict(est.trace_)``.
    n_iter_ : int
        Epochs of the problem that took the most.
    n_steps_ : int
        Steps of all problems; in a stream the t of the step size 1/(lam t), which may start above 1 (`partial_fit`).
    lam_ : float; for "ovo" with C an array of shape (n_pairs,)
        The lam of the fit, also where C or nu was given.
    fitted_ : Fit
        Everything above in one frozen record, with the status as an enum.
    n_features_in_ : int
    feature_names_in_ : array of str, when X has names

    Notes
    -----
    What is copied: float32 and float64 in C order and CSR of those with int32 or int64 indices are read in place,
    memory maps included. F-ordered arrays are copied once; bool, 8- and 16-bit integers and float16 become float32,
    other integers float64; other sparse formats become CSR; CSR with unsorted or repeated columns in a row is sorted
    and summed in a copy.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos: primal estimated sub-gradient solver for SVM. Mathematical
    Programming 127, 2011.

    Joachims: Training linear SVMs in linear time. KDD 2006 ("cutting_plane").

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import PegasosClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PegasosClassifier(lam=1e-3, random_state=0).fit(scale(X), y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> round(model.score(scale(X), y), 2)
    0.99
    """

    _saved = layout.linear
    _most_paired = 30
    lam: float = field(default=DEFAULT_LAM, kw_only=False)

    def _check_parameters(self) -> None:
        self._check_classification(("auto", "pegasos", "dual", "cutting_plane", "interior_point"))
