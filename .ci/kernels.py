"""Print kernels of OpenBLAS that this machine can run and that numpy does not use as it is.

They add up in different orders, so that results differ in their last bits. A machine can run those
of older processors, too, if it is told to by ``OPENBLAS_CORETYPE``.
"""

import os
import subprocess
import sys

# From processors that are far apart: without AVX, with AVX, AVX2, AVX-512; and those of ARM.
CANDIDATES = ("Nehalem", "SkylakeX", "Sandybridge", "Haswell", "NEOVERSEN1", "ARMV8")
ENOUGH = 2

# What runs is named by the libraries that numpy and scipy have loaded, when they have been used.
PROBE = """
import numpy, scipy.linalg, threadpoolctl
X = numpy.random.default_rng(0).standard_normal((300, 300))
scipy.linalg.eigh(X @ X.T)
print(sorted({str(each.get("architecture")) for each in threadpoolctl.threadpool_info()}))
"""


def kernels_in_use(name: str | None) -> str | None:
    """The kernels that a process uses when told to use these; none if it crashes."""
    told = {} if name is None else {"OPENBLAS_CORETYPE": name}
    ended = subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROBE],
        env=os.environ | told,
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.stdout if ended.returncode == 0 else None


def main() -> None:
    seen = [kernels_in_use(None), None]
    found = []
    for name in CANDIDATES:
        kernels = kernels_in_use(name)
        if kernels not in seen:
            seen.append(kernels)
            found.append(name)
    sys.stdout.write(f"{' '.join(found[:ENOUGH])}\n")


main()
