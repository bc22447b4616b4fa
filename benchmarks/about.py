"""Under what circumstances the figures were measured; nothing that names a machine."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from threadpoolctl import threadpool_info

from benchmarks.cases import SEED

_PACKAGES = ("redac", "numpy", "scipy", "scikit-learn", "abess")


def circumstances() -> dict[str, Any]:
    """Date, versions, cores, BLAS and its threads, seed."""
    blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "blas": sorted({f"{pool['internal_api']} {pool['version']}" for pool in blas}),
        "blas_threads": max((pool["num_threads"] for pool in blas), default=1),
        "versions": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
        "seed": SEED,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
