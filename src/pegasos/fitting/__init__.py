"""Fits: one function from checked rows to a frozen `Fit`, one for a pass over a block, one to certify again."""

from pegasos.fitting.certify import recertify, with_dual_point
from pegasos.fitting.fit import fit
from pegasos.fitting.result import SATISFIED, Fit, Origin, Proof
from pegasos.fitting.starts import GivenWeights, SharesStart
from pegasos.fitting.stream import goes_on_from, pass_over
from pegasos.fitting.warm import WarmStart

__all__ = [
    "SATISFIED",
    "Fit",
    "GivenWeights",
    "Origin",
    "Proof",
    "SharesStart",
    "WarmStart",
    "fit",
    "goes_on_from",
    "pass_over",
    "recertify",
    "with_dual_point",
]
