"""Packages of R, each by one line of it, run by Rscript where R and the package are installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.packages.package import Array, CannotFitError, Package

_SCRIPT = """\
arguments <- commandArgs(TRUE)
size <- as.integer(arguments[3:5])
n <- size[1]; d <- size[2]; r <- size[3]; setting <- as.numeric(arguments[6])
X <- matrix(readBin(arguments[1], "double", n * d), n, d)
set.seed(0)
invisible(loadNamespace("{package}"))
seconds <- system.time(V <- {line})[["elapsed"]]
writeBin(as.double(V), arguments[2])
cat("seconds", seconds, "\\n")
"""
_DEBIAN = ("pcaPP",)


@dataclass(frozen=True)
class _Line:
    """One line of R: from X, r and setting to loadings, d × r.

    ``penalised``: the setting is a penalty, which is sought; else a cardinality.
    """

    package: str
    function: str
    group: str
    line: str
    penalised: bool = False


_LINES = (
    _Line(
        "elasticnet",
        "spca",
        "same cardinality",
        'elasticnet::spca(X, r, rep(setting, r), sparse = "varnum")$loadings',
    ),
    _Line(
        "nsprcomp",
        "nsprcomp",
        "same cardinality",
        "nsprcomp::nsprcomp(X, ncomp = r, k = rep(setting, r), center = FALSE)$rotation",
    ),
    _Line(
        "msPCA",
        "mspca",
        "orthogonal",
        "msPCA::mspca(crossprod(X) / n, r, rep(setting, r), verbose = FALSE)$x_best",
    ),
    _Line(
        "PMA",
        "SPC",
        "total cardinality",
        # Its bound on the l1 norm lies between 1 and √d; a penalty turns it round.
        "PMA::SPC(X, sumabsv = min(sqrt(d), max(1, sqrt(d) / setting)), K = r, trace = FALSE,"
        " center = FALSE, compute.pve = FALSE)$v",
        penalised=True,
    ),
    _Line(
        "sparsepca",
        "spca",
        "total cardinality",
        "sparsepca::spca(X, r, alpha = setting, center = FALSE, verbose = FALSE)$loadings",
        penalised=True,
    ),
    _Line(
        "pcaPP",
        "sPCAgrid",
        "orthogonal",
        'pcaPP::sPCAgrid(X, r, method = "sd", lambda = setting, center = rep(0, d),'
        " scores = FALSE)$loadings",
        penalised=True,
    ),
)


def _once(line: _Line, X: Array, r: int, setting: float) -> tuple[Array, float]:
    n, d = X.shape
    with tempfile.TemporaryDirectory() as folder:
        script, data, answer = (Path(folder) / name for name in ("script.R", "data", "answer"))
        script.write_text(_SCRIPT.format(package=line.package, line=line.line))
        X.T.tofile(data)  # R has columns one after the other
        sizes = [str(number) for number in (n, d, r, repr(setting))]
        run = _rscript(str(script), str(data), str(answer), *sizes)
        if run.returncode:
            said = [line.strip() for line in run.stderr.splitlines()]
            raise CannotFitError("R: " + " ".join(x for x in said if x != "Execution halted"))
        V = np.fromfile(answer)
    found = np.zeros((r, d))
    found[: V.size // d] = V.reshape(-1, d)  # nsprcomp may stop before r components
    return found, float(run.stdout.split()[-1])


def _missing(package: str) -> str | None:
    if shutil.which("Rscript") is None:
        return "R is not installed"
    if package in _installed():
        return None
    if package in _DEBIAN:
        return f"not installed (Debian: r-cran-{package.lower()})"
    return f'not installed (install.packages("{package}"); Debian does not have it)'


@cache
def _installed() -> frozenset[str]:
    listed = _rscript("-e", "cat(rownames(installed.packages()))")
    return frozenset(listed.stdout.split())


def _rscript(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["Rscript", "--vanilla", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603


PACKAGES = tuple(
    Package(
        f"{each.package} {each.function} (R)",
        each.group,
        partial(_once, each),
        partial(_missing, each.package),
        (lambda X, r, k: 1.0) if each.penalised else None,
    )
    for each in _LINES
)
