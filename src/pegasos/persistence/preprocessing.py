"""The steps of scikit-learn that a pipeline in a model file may have: of each class, its home and its attributes.

A class that is not in the table is refused, and nothing in a file can add to it. Attributes that another version of
scikit-learn does not have are left out; those that numbers of a loop depend on are checked against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pegasos.errors import PegasosError
from pegasos.persistence.specs import Array, Count, Either, Flag, Names, Number, Optional, Reader, Spec, Writer, require
from pegasos.persistence.values import Kind, anything

_FEATURES = "n_features_in_"
_FLOATS = "float32 float64"
_one_each = Array(_FLOATS, _FEATURES)
_loose_each = Array(_FLOATS, _FEATURES, is_finite=False)
_of_components = Array(_FLOATS, "n_components")


@dataclass(frozen=True)
class Vocabulary:
    """The columns of words: as a list in the order of the columns, so that no column lies outside."""

    def pack(self, value: Any, what: str, out: Writer) -> Any:
        """All words, from that of the first column."""
        words = sorted(value, key=value.__getitem__)
        if [value[word] for word in words] != list(range(len(words))):
            raise PegasosError(f"{what} does not give each column one word; fit the vectorizer again.")
        return anything.pack(words, what, out)

    def unpack(self, stored: Any, what: str, source: Reader) -> dict[str, int]:
        """Each word with its column."""
        words = anything.unpack(stored, what, source)
        require(isinstance(words, list) and all(isinstance(word, str) for word in words), what, "a list of words")
        require(len(set(words)) == len(words), what, "a list of different words")
        return {word: column for column, word in enumerate(words)}


def _check_nothing(step: Any) -> None:
    pass


def _check_codes(step: Any) -> None:
    """Whether the codes of categories are columns that there are: loops of scipy do not look again."""
    categories = step.categories_
    require(isinstance(categories, list) and len(categories) == step.n_features_in_, "categories_", "one per feature")
    require(all(isinstance(each, np.ndarray) and each.ndim == 1 for each in categories), "categories_", "arrays")
    groups = [_check_groups(step, place, len(each)) for place, each in enumerate(categories)]
    if not hasattr(step, "drop"):
        return
    dropped = step._drop_idx_after_grouping
    if dropped is not None:
        places = dropped.tolist() if isinstance(dropped, np.ndarray) else []
        require(len(places) == len(groups), "drop_idx_", "one per feature")
        within = all(place is None or 0 <= place < n for place, n in zip(places, groups, strict=True))
        require(within, "drop_idx_", "a list of categories")
    require(step._n_features_outs == step._compute_n_features_outs(), "_n_features_outs", "those of the categories")


def _check_groups(step: Any, place: int, n_categories: int) -> int:
    """The number of a feature's categories after rare ones are grouped."""
    if not step._infrequent_enabled:
        return n_categories
    rare, mapping = step._infrequent_indices[place], step._default_to_infrequent_mappings[place]
    if rare is None or mapping is None:
        require(rare is None and mapping is None, "_infrequent_indices", "those of the mapping")
        return n_categories
    expected = np.zeros(n_categories, dtype=np.int64)
    is_rare = np.isin(np.arange(n_categories), rare)
    n_frequent = int((~is_rare).sum())
    expected[~is_rare], expected[is_rare] = np.arange(n_frequent), n_frequent
    agree = len(rare) == is_rare.sum() and np.array_equal(mapping, expected)
    require(agree, "_infrequent_indices", "those of the mapping")
    return n_frequent + 1


@dataclass(frozen=True)
class Step:
    """Where a class lives, the attributes of a fitted one, and what must hold between them."""

    home: str
    attributes: Mapping[str, Spec]
    check: Callable[[Any], None] = _check_nothing


def _of_rows(home: str, check: Callable[[Any], None] = _check_nothing, /, **attributes: Spec) -> Step:
    """A step that reads features, which it counts and may know by name."""
    counts: dict[str, Spec] = {_FEATURES: Count(1, dimension=_FEATURES), "feature_names_in_": Names(_FEATURES)}
    return Step(f"sklearn.{home}", {**counts, **attributes}, check)


_codes: dict[str, Spec] = dict.fromkeys(
    ("categories_", "_infrequent_indices", "_default_to_infrequent_mappings", "_missing_indices"), anything
)
_codes |= {"_infrequent_enabled": Flag()}
_drops: dict[str, Spec] = dict.fromkeys(("drop_idx_", "_drop_idx_after_grouping", "_n_features_outs"), anything)
_words: dict[str, Spec] = {"vocabulary_": Vocabulary(), "fixed_vocabulary_": Flag()}
_scored: dict[str, Spec] = {"scores_": _loose_each, "pvalues_": Optional(_loose_each)}
_reduced: dict[str, Spec] = {
    "components_": Array(_FLOATS, "n_components", _FEATURES),
    **dict.fromkeys(("explained_variance_", "explained_variance_ratio_", "singular_values_"), _of_components),
}

steps: Mapping[str, Step] = {
    "Binarizer": _of_rows("preprocessing"),
    "ColumnTransformer": _of_rows(
        "compose",
        sparse_output_=Flag(),
        **dict.fromkeys(
            (
                "transformers_",
                "output_indices_",
                "_columns",
                "_remainder",
                "_transformer_to_input_indices",
                "_n_features",
                "_name_to_fitted_passthrough",
            ),
            anything,
        ),
    ),
    "CountVectorizer": Step("sklearn.feature_extraction.text", _words),
    "FeatureUnion": Step("sklearn.pipeline", {}),
    "FunctionTransformer": _of_rows("preprocessing"),
    "HashingVectorizer": Step("sklearn.feature_extraction.text", {}),
    "KBinsDiscretizer": _of_rows(
        "preprocessing", bin_edges_=anything, n_bins_=Array("int64 int32", _FEATURES), _encoder=anything
    ),
    "MaxAbsScaler": _of_rows("preprocessing", n_samples_seen_=Count(), max_abs_=_one_each, scale_=_one_each),
    "MinMaxScaler": _of_rows(
        "preprocessing",
        n_samples_seen_=Count(),
        **dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), _one_each),
    ),
    "MissingIndicator": _of_rows(
        "impute", features_=Array("int64 int32", None, below=_FEATURES), _n_features=Count(), _precomputed=anything
    ),
    "Normalizer": _of_rows("preprocessing"),
    "OneHotEncoder": _of_rows("preprocessing", _check_codes, **_codes, **_drops),
    "OrdinalEncoder": _of_rows("preprocessing", _check_codes, **_codes),
    "PCA": _of_rows(
        "decomposition",
        mean_=_one_each,
        noise_variance_=Number(),
        n_samples_=Count(),
        n_components_=Count(),
        _fit_svd_solver=anything,
        **_reduced,
    ),
    "Pipeline": Step("sklearn.pipeline", {}),
    "PolynomialFeatures": _of_rows(
        "preprocessing",
        **dict.fromkeys(("_min_degree", "_max_degree", "n_output_features_", "_n_out_full"), Count()),
    ),
    "PowerTransformer": _of_rows("preprocessing", lambdas_=_loose_each, _scaler=anything),
    "QuantileTransformer": _of_rows(
        "preprocessing",
        n_quantiles_=Count(),
        references_=Array("float64", "n_quantiles"),
        quantiles_=Array(_FLOATS, "n_quantiles", _FEATURES),
    ),
    "RobustScaler": _of_rows("preprocessing", **dict.fromkeys(("center_", "scale_"), Optional(_one_each))),
    "SelectKBest": _of_rows("feature_selection", **_scored),
    "SelectPercentile": _of_rows("feature_selection", **_scored),
    "SimpleImputer": _of_rows(
        "impute", **dict.fromkeys(("statistics_", "indicator_", "_fit_dtype", "_fill_dtype"), anything)
    ),
    "StandardScaler": _of_rows(
        "preprocessing",
        n_samples_seen_=Either(
            {np.ndarray: Array("int64 float64", _FEATURES), np.integer: Count(), object: Number(0.0)}
        ),
        **dict.fromkeys(("mean_", "var_", "scale_"), Optional(_one_each)),
    ),
    "TfidfTransformer": _of_rows("feature_extraction.text", idf_=_one_each),
    "TfidfVectorizer": Step("sklearn.feature_extraction.text", {**_words, "_tfidf": anything}),
    "TruncatedSVD": _of_rows("decomposition", **_reduced),
    "VarianceThreshold": _of_rows("feature_selection", variances_=_loose_each),
}

# What their parameters and attributes may be besides: types of numbers, parts of a list, and known functions.
_types: dict[str, Any] = {
    name: np.dtype(name).type
    for name in ("bool", "object", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)))
}
_types |= {f"float{bits}": np.dtype(f"float{bits}").type for bits in (16, 32, 64)}
_SCORES = ("chi2", "f_classif", "f_regression", "mutual_info_classif", "mutual_info_regression", "r_regression")


def _type_of(stored: Mapping[str, Any], what: str, source: Reader) -> Any:
    name = stored.get("name")
    require(isinstance(name, str) and name in _types, what, "a type of numbers")
    return _types[str(name)]


def _dtype_of(stored: Mapping[str, Any], what: str, source: Reader) -> Any:
    name = stored.get("name")
    require(isinstance(name, str) and len(name) < 12 and name[:2] != "|V", what, "a type of numbers or words")
    dtype = np.dtype(str(name))
    require(dtype.kind in "biufOUS", what, "a type of numbers or words")
    return dtype


def _slice_of(stored: Mapping[str, Any], what: str, source: Reader) -> slice:
    parts = [stored.get(name) for name in ("start", "stop", "step")]
    require(all(part is None or type(part) in (int, str) for part in parts), what, "a part of a list")
    return slice(*parts)


def _score_named(name: str) -> Any:
    from sklearn import feature_selection  # which imports much that a fit does not need

    return getattr(feature_selection, name)


def _score_of(stored: Mapping[str, Any], what: str, source: Reader) -> Any:
    name = stored.get("name")
    require(isinstance(name, str) and name in _SCORES, what, "a score of features")
    return _score_named(str(name))


anything.kinds |= {
    "type": Kind(
        lambda value: isinstance(value, type) and value in _types.values(),
        lambda value, what, out: {"name": np.dtype(value).name},
        _type_of,
    ),
    "dtype": Kind(
        lambda value: isinstance(value, np.dtype) and value.kind in "biufOUS" and value.names is None,
        lambda value, what, out: {"name": value.str},
        _dtype_of,
    ),
    "slice": Kind(
        lambda value: isinstance(value, slice),
        lambda value, what, out: {"start": value.start, "stop": value.stop, "step": value.step},
        _slice_of,
    ),
    "score": Kind(
        lambda value: getattr(value, "__name__", None) in _SCORES and value is _score_named(value.__name__),
        lambda value, what, out: {"name": value.__name__},
        _score_of,
    ),
}
