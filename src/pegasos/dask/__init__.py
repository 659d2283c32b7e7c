"""Linear support vector machines on a dask cluster: rows that stay where they are, and the same certificate.

Needs dask: ``pip install "pegasos[dask]"``.

>>> import dask.array as da
>>> from pegasos.dask import PegasosClassifier
>>> X = da.random.default_rng(0).normal(size=(1000, 5), chunks=(250, 5))
>>> model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, X[:, 0] > 0)
>>> model.certificate_.relative_gap <= 1e-3
True
"""

try:
    from pegasos.dask.classifier import PegasosClassifier
    from pegasos.dask.regressor import PegasosRegressor
except ImportError as error:
    raise ImportError(f'pegasos.dask needs dask, pip install "pegasos[dask]" ({error}).') from error

__all__ = ["PegasosClassifier", "PegasosRegressor"]
