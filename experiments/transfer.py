"""The spam filter of one user from another's: target only, source only, and the prior in between.

    python -m experiments.transfer [--quick]

Writes docs/experiments/transfer.json, the page made from it and docs/images/transfer.png; ``--quick`` takes one draw
and writes nothing.
"""

import sys
import warnings
from collections.abc import Iterator
from textwrap import fill
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from experiments import command, data, judging, pages, pictures
from pegasos import PegasosClassifier

seed = 0
sizes = (5, 10, 20, 50, 100, 200, 500)
lams = (10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4)  # from strong to weak
hold_fast = 1e3  # beside them where there is a prior: the prior itself
picture = "../images/transfer.png"
methods = ("target only", "source only", "transfer")

Rows = Any  # dense or CSR


def mails(name: str) -> tuple[Rows, np.ndarray, np.ndarray]:
    """Rows of length about 1, whether each is spam, and the same rows in few dimensions."""
    arrays = data.read(name)
    if name == "sms_spam":
        X = sp.csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(data.matrix(arrays)))
        return X, arrays["y"] > 0, TruncatedSVD(20, random_state=seed).fit_transform(X)
    X = StandardScaler().fit_transform(np.log1p(arrays["X"].astype(np.float64)))
    X /= np.sqrt(X.shape[1])
    return X, arrays["y"] > 0, X


def users(places: np.ndarray, spam: np.ndarray, component: int) -> np.ndarray:
    """Which of two users each mail belongs to: one side of the median of a principal component, class by class.

    The means of the classes are taken out first, so users differ in what their mails are about, not in how many of
    them are spam.
    """
    centred = places.copy()
    for label in (False, True):
        centred[spam == label] -= centred[spam == label].mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    along = centred @ directions[component]
    median = np.where(spam, np.median(along[spam]), np.median(along[~spam]))
    return np.asarray(along > median)


def machine(lam: float, prior: Any, tol: float = 1e-3) -> PegasosClassifier:
    """What every method trains."""
    return PegasosClassifier(
        lam=lam, prior=prior, class_weight="balanced", tol=tol, max_iter=100_000, random_state=seed
    )


def chosen(X: Rows, spam: np.ndarray, prior: Any) -> PegasosClassifier:
    """Trained with the lam of the best balanced accuracy in cross-validation; of equals the largest."""
    n_folds = min(5, int(spam.sum()), int((~spam).sum()))
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, spam))
    best, best_quality = lams[0], -1.0
    for lam in lams if prior is None else (hold_fast, *lams):
        guesses = np.empty(len(spam), dtype=bool)
        for train, test in folds:
            guesses[test] = machine(lam, prior, tol=1e-2).fit(X[train], spam[train]).predict(X[test])
        quality = balanced_accuracy_score(spam, guesses)
        if quality > best_quality + 1e-12:
            best, best_quality = lam, quality
    return machine(best, prior).fit(X, spam)


def labelled(spam: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """So many mails, spam in its share but at least two of each class: fewer cannot be cross-validated."""
    n_spam = max(2, round(n * spam.mean()))
    groups = (np.flatnonzero(spam), n_spam), (np.flatnonzero(~spam), n - n_spam)
    return np.concatenate([random.choice(group, size, replace=False) for group, size in groups])


def draws(spam: np.ndarray, n_draws: int) -> Iterator[tuple[np.random.Generator, np.ndarray, np.ndarray]]:
    """Halves of the target user's mails: to label, and to test on."""
    for draw in range(n_draws):
        random = np.random.default_rng([seed, draw])
        order = random.permutation(len(spam))
        yield random, order[: len(order) // 2], order[len(order) // 2 :]


def one_setting(name: str, component: int, n_draws: int) -> dict[str, Any]:
    """The balanced accuracy of each method, at each number of labelled mails, in each draw."""
    begun = process_time()
    X, spam, places = mails(name)
    is_target = users(places, spam, component)
    source = chosen(X[~is_target], spam[~is_target], None)
    X, spam = X[is_target], spam[is_target]
    found = {method: np.zeros((len(sizes), n_draws)) for method in methods}
    lams_of_transfer = np.zeros((len(sizes), n_draws))
    for draw, (random, pool, test) in enumerate(draws(spam, n_draws)):
        for k, n in enumerate(sizes):
            part = pool[labelled(spam[pool], n, random)]
            models = [chosen(X[part], spam[part], None), source, chosen(X[part], spam[part], source)]
            lams_of_transfer[k, draw] = models[-1].lam
            for method, model in zip(methods, models, strict=True):
                found[method][k, draw] = balanced_accuracy_score(spam[test], model.predict(X[test]))
    return {
        "data": name,
        "component": component + 1,
        "n_source": int((~is_target).sum()),
        "n_target": int(is_target.sum()),
        "spam": round(float(spam.mean()), 3),
        "accuracy": {method: np.round(values, 4).tolist() for method, values in found.items()},
        "lam": lams_of_transfer.tolist(),
        "seconds": round(process_time() - begun, 1),
    }


def measure(quick: bool) -> dict[str, Any]:
    """All settings."""
    warnings.simplefilter("error", ConvergenceWarning)
    found = _of_settings(1 if quick else 20)
    setting = {"sizes": sizes, "lams": lams, "hold_fast": hold_fast, "seed": seed}
    return {**setting, "found": found, "picture": picture}


def _of_settings(n_draws: int) -> list[dict[str, Any]]:
    found = []
    for name in ("sms_spam", "spambase"):
        for component in (0, 1):
            found.append(one_setting(name, component, n_draws))
            print(name, component, found[-1]["seconds"])
            for method, values in found[-1]["accuracy"].items():
                print(f"  {method:12}", *(f"{np.mean(each):.3f}" for each in values), flush=True)
    return found


def draw(results: dict[str, Any]) -> None:
    """Balanced accuracy against the number of labelled mails, a panel for each setting."""
    figure, panels = pictures.panels(2, 2)
    for axes, each in zip(panels, results["found"], strict=True):
        for method, look in zip(methods, pictures.looks(), strict=False):
            values = np.array(each["accuracy"][method])
            error = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
            axes.errorbar(sizes, values.mean(axis=1), error, **look, label=method)
        axes.set(
            xscale="log",
            title=_title(each),
            xlabel="labeled emails of the target user",
            ylabel="balanced accuracy on the target user",
        )
        axes.set_xticks(sizes, [str(n) for n in sizes])
        axes.minorticks_off()
    panels[0].legend(loc="lower right", frameon=False)
    pictures.save(figure, results["picture"])


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the notes say of the two professors."""
    found = results["found"]
    gains = [gain for each in found for gain in _gains(each, ("target only",))]
    better, worse = (sum(side * gain > 2 * error for _, gain, error in gains) for side in (1, -1))
    few = judging.interval([100 * gain for n, gain, _ in gains if n <= 20])
    medians = [[float(np.median(lams)) for lams in each["lam"]] for each in found]
    return [
        pages.claim(
            pages.notes,
            "with few labeled emails, a filter regularized toward that of a similar user is better than one from those "
            "emails alone.",
            few.verdict(least=0.0),
            f"It is better by more than two standard errors in {better} of {len(gains)} cells and worse in {worse}. "
            f"With 20 emails or fewer, it gains {few} points of balanced accuracy over users and sizes.",
        ),
        pages.claim(
            pages.notes,
            "how much to trust the other user is C (1 / lam): low if the two users are similar, large if one's own "
            "emails "
            "matter more.",
            judging.interval([np.log10(each[0] / each[-1]) for each in medians]).verdict(least=0.0),
            f"As {sizes[0]} labeled emails become {sizes[-1]}, the lam that cross-validation chooses falls from "
            f"{', '.join(f'{each[0]:g} to {each[-1]:g}' for each in medians)}, for the four pairs of users.",
        ),
    ]


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    found = results["found"]
    n_draws, seconds = len(found[0]["lam"][0]), sum(each["seconds"] for each in found)
    tables = "\n".join(f"## {_title(each)}\n\n{_describe(each)}\n\n{_table(each)}" for each in found)
    return f"""# Transfer: one user's spam filter from another's

If you use `prior=`: when does a model from other data help, and by how much?

Generated by `make experiments-transfer` from `transfer.json`; {seconds:.0f} seconds of processor
time.

Neither data set says who received which email, so users are constructed. The emails of each class are split at the
median of a principal component (after subtracting the class means): one side belongs to the source user, the other to
the target user. So users differ in the topics of their emails, not in the share of spam. The first and the second
component give two pairs of users.

The source's filter is trained on all emails of the source. Half of the target's emails are held out for testing, and
{sizes[0]} to {sizes[-1]} of the others are labeled, with the usual share of spam but at least two of each class. There
are {n_draws} draws, the same for all methods. *Target only* is a `PegasosClassifier` on the labeled emails, *source
only* is the source's filter unchanged, and *transfer* is the same classifier with `prior=source`. All have
`class_weight="balanced"`.

**lam is chosen in the same way for all**, by cross-validation on the labeled emails with up to five folds: the value
with the best balanced accuracy among {", ".join(f"{lam:g}" for lam in lams)}, and with a prior also {hold_fast:g},
which is the prior itself. In a tie, the largest is taken. Features are scaled once over all emails, without labels.

{pages.claims(results)}
![Balanced accuracy against labeled emails, for the target's filter, the source's, and transfer]({results["picture"]})

The tables have balanced accuracies, means over the draws ± the standard error. "Gain" is what transfer gains over the
better of the two others, draw by draw. It is bold where it is more than two standard errors from 0.

{tables}
## Summary

{_sentences(found)}"""


def _title(each: dict[str, Any]) -> str:
    return f"{each['data']}, component {each['component']}"


def _describe(each: dict[str, Any]) -> str:
    return (
        f"{each['n_source']} emails of the source, {each['n_target']} of the target, {each['spam']:.1%} of which are "
        "spam."
    )


def _gains(each: dict[str, Any], rivals: tuple[str, ...]) -> Iterator[tuple[int, float, float]]:
    """At each size: the mean difference of transfer to the better of its rivals, and its standard error."""
    values = {method: np.array(rows) for method, rows in each["accuracy"].items()}
    for k, n in enumerate(sizes):
        rival = max(rivals, key=lambda method: float(values[method][k].mean()))
        differences = values["transfer"][k] - values[rival][k]
        yield n, float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(differences)))


def _table(each: dict[str, Any]) -> str:
    rows = []
    for k, (n, gain, error) in enumerate(_gains(each, methods[:2])):
        cells = []
        for method in methods:
            values = np.array(each["accuracy"][method][k])
            cells.append(f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}")
        mark = "**" if abs(gain) > 2 * error else ""
        rows.append([n, *cells, f"{mark}{gain:+.3f} ± {error:.3f}{mark}", f"{np.median(each['lam'][k]):g}"])
    return pages.table(["labeled", *methods, "gain", "median lam of transfer"], rows)


def _sentences(found: list[dict[str, Any]]) -> str:
    lines = []
    for rivals, words in (
        (("target only",), "target only"),
        (("source only",), "source only"),
        (methods[:2], "the better of both"),
    ):
        gains = [(each, n, gain, error) for each in found for n, gain, error in _gains(each, rivals)]
        better = [row for row in gains if row[2] > 2 * row[3]]
        worse = [row for row in gains if row[2] < -2 * row[3]]
        losses = "; ".join(f"{_title(each)} at {n} ({gain:+.3f})" for each, n, gain, _ in worse)
        where = f"{len(worse)} ({losses})" if worse else "none"
        lines.append(
            f"- Against {words}: better by more than two standard errors in {len(better)} of {len(gains)} cells, worse "
            f"by more than two in {where}."
        )
    return "\n".join(fill(line, 120, subsequent_indent="  ") for line in lines) + "\n"


if __name__ == "__main__":
    command.run(sys.modules[__name__])
