"""Fits in fresh child processes: for their peak memory, and so that they can be ended.

The children are forked from a server that has imported everything and computed nothing. Each loads
the data, has BLAS take its buffers by work with larger matrices, fits once at a tiny size, gives
freed memory back to the system, resets its peak resident set (Linux: /proc/self/clear_refs) and
fits. Peak minus resident set before is what the fit needed above the input. A counter of Python's
own memory would not see what BLAS and LAPACK take.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, eigh
from scipy.sparse import issparse, load_npz, save_npz
from threadpoolctl import threadpool_limits

from benchmarks import contestants
from benchmarks.cached import CachedColumns
from benchmarks.cases import Job, factor_data

_MEMORY_SHARE = 0.6
# Large enough for a fit to go through all its stages: the code of libraries counts when first used.
_TINY = (300, 300)
_BUFFERED = 1024  # beyond this order BLAS takes hardly more for itself
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["benchmarks.contestants", "benchmarks.tuning"])


@dataclass
class Trial:
    """One fit in a child, or the reason why there is none."""

    seconds: float | None = None
    peak_bytes: int | None = None
    cached_columns: int | None = None
    cached_bytes: int | None = None
    components: NDArray[np.float64] | None = field(default=None, repr=False)
    sweeps: int | None = None
    passes: int | None = None
    failure: str | None = None
    longer_than: float | None = None  # seconds after which it was ended, if that is the reason
    recorded: bool = False  # known from an earlier run and not tried


def store(X: Any, folder: Path) -> Path:
    """Write data where children find them."""
    if issparse(X):
        path = folder / "data.npz"
        save_npz(path, X, compressed=False)
    else:
        path = folder / "data.npy"
        np.save(path, X)
    return path


def load(path: Path) -> Any:
    """Read data into memory."""
    return load_npz(path) if path.suffix == ".npz" else np.load(path)


def trial(job: Job, path: Path, *, limit: float, threads: int) -> Trial:
    """One fit, ended after ``limit`` seconds."""
    result = in_child(_one_fit, job, path, threads, limit=limit)
    if isinstance(result, str):
        return Trial(failure=result, longer_than=limit if result == too_long(limit) else None)
    return result


def in_child(function: Callable[..., Any], *arguments: Any, limit: float) -> Any:
    """What a function returns in a child process, or as a string the reason why it does not."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_answer, args=(sender, function, arguments), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return too_long(limit)
        return receiver.recv()
    except EOFError:
        return "the process died"
    finally:
        process.kill()
        process.join()
        receiver.close()


def _answer(sender: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    _limit_memory()
    try:
        result = function(*arguments)
    except contestants.NotApplicableError as error:
        result = str(error)
    except MemoryError:
        result = f"asked for more than {100 * _MEMORY_SHARE:.0f} % of the memory of the machine"
    except Exception as error:  # a rival that fails is a result
        result = f"{type(error).__name__}: {error}".splitlines()[0][:160]
    sender.send(result)
    sender.close()


def _one_fit(job: Job, path: Path, threads: int) -> Trial:
    X = load(path)
    with threadpool_limits(threads), CachedColumns() as cached:
        _warm_up(job, X)
        cached.forget()
        before = _fresh_peak()
        start = time.perf_counter()
        fitted = contestants.fit(job, X)
        seconds = time.perf_counter() - start
        peak = None if before is None else _status("VmHWM") - before
        columns, n_bytes = cached.count, cached.n_bytes
    return Trial(
        *(seconds, peak, columns, n_bytes, fitted.components),
        sweeps=fitted.sweeps,
        passes=fitted.passes,
    )


def _warm_up(job: Job, X: Any) -> None:
    """Whatever a first call loads or allocates for good is not the fit's."""
    _take_buffers(min(*X.shape, _BUFFERED))
    tiny = factor_data(*_TINY)
    contestants.fit(job, type(X)(tiny) if issparse(X) else tiny)


def _take_buffers(size: int) -> None:
    """Have BLAS allocate: NumPy's and SciPy's own, products, Gram matrices, factorisations."""
    A = factor_data(size, size)
    for B in (A, np.asfortranarray(A)):
        product = B @ A + B.T @ B
        blas.dsyrk(1.0, B)
        blas.dgemm(1.0, B, B, trans_a=True)
        B.T @ A[:, :20]
    eigh(product, subset_by_index=(max(size - 20, 0), size - 1))
    np.linalg.svd(A[:, :40], full_matrices=False)


def _fresh_peak() -> int | None:
    """Reset the peak of the resident set; what is resident now, or None where it cannot be told."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except (AttributeError, OSError):
        return None


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {name}.")


def _limit_memory() -> None:
    """A rival that asks for all memory must not take the machine with it."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = int(_MEMORY_SHARE * physical)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def too_long(limit: float) -> str:
    """The reason for a fit that was ended."""
    return f"no result in {limit / 60:g} min" if limit >= 60 else f"no result in {limit:g} s"
