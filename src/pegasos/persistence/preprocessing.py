"""The attributes of the scalers of scikit-learn that a pipeline in a model file may have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pegasos.persistence.specs import Array, Count, Either, Names, Number, Optional, Spec

_floats = "float32 float64"
_features = "n_features_in_"
_one_each = Array(_floats, _features)
_common: dict[str, Spec] = {_features: Count(1, dimension=_features), "feature_names_in_": Names(_features)}

fitted: Mapping[str, Mapping[str, Spec]] = {
    "MaxAbsScaler": {**_common, "n_samples_seen_": Count(), "max_abs_": _one_each, "scale_": _one_each},
    "MinMaxScaler": {
        **_common,
        "n_samples_seen_": Count(),
        **dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), _one_each),
    },
    "Normalizer": _common,
    "StandardScaler": {
        **_common,
        "n_samples_seen_": Either(
            {np.ndarray: Array("int64 float64", _features), np.integer: Count(), object: Number(0.0)}
        ),
        **dict.fromkeys(("mean_", "var_", "scale_"), Optional(_one_each)),
    },
}
optional = ("feature_names_in_",)
