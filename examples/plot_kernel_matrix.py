"""What an RBF kernel makes of handwritten digits.

Run as ``python examples/plot_kernel_matrix.py [folder]``; the picture goes to the folder, by default ``docs/images``.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from pegasos.kernels import RBF
from pegasos.plots import KernelMatrixDisplay


def main(folder: str = "docs/images") -> None:
    """Compare three hundred digits."""
    X, y = load_digits(return_X_y=True)
    drawn = KernelMatrixDisplay.from_kernel(RBF(0.1), X[:300] / 16.0, y[:300]).plot(title="digits, RBF kernel")
    print(f"mean kernel value {drawn.matrix.mean():.3f}")
    drawn.figure_.savefig(Path(folder) / "kernel-matrix.png", dpi=80)
    plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:2])
