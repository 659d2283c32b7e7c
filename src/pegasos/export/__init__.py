"""Export models to ONNX, LIBLINEAR, LIBSVM, JSON and scikit-learn, and import models of other libraries.

`to_onnx`, `to_liblinear`, `to_libsvm`, `to_json` and `to_sklearn` hand a fitted model over. `from_liblinear`,
`from_libsvm`, `from_svmlight`, `from_json` and `from_sklearn` read one: it predicts at once, and its ``certify(X, y)``
says how good it is. `read_model` recognizes a file by its content.
"""

from pegasos.export.liblinear import from_liblinear, to_liblinear
from pegasos.export.libsvm import from_libsvm, to_libsvm
from pegasos.export.onnx import to_onnx
from pegasos.export.plain import from_json, to_json
from pegasos.export.reading import read_model
from pegasos.export.sklearn import from_sklearn, to_sklearn
from pegasos.export.svmlight import from_svmlight

__all__ = [
    "from_json",
    "from_liblinear",
    "from_libsvm",
    "from_sklearn",
    "from_svmlight",
    "read_model",
    "to_json",
    "to_liblinear",
    "to_libsvm",
    "to_onnx",
    "to_sklearn",
]
