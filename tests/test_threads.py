"""One thread where matrices are small, and as many as before afterwards."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from redac import SparsePCA
from redac.threads import _SMALL, one_thread


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(limits=2, user_api="blas"):
        yield


@pytest.mark.usefixtures("two_threads")
def test_small_matrices_get_one_thread_and_the_others_all():
    before = threads()
    with one_thread(_SMALL):
        assert threads() == {1}
        with one_thread(1):  # within another
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == before
    with one_thread(_SMALL + 1):
        assert threads() == before


@pytest.mark.usefixtures("two_threads")
def test_an_error_gives_the_threads_back():
    before = threads()
    with pytest.raises(ZeroDivisionError), one_thread(1):
        raise ZeroDivisionError
    assert threads() == before
    with one_thread(1):
        assert threads() == {1}


def test_whoever_leaves_last_the_threads_are_given_back():
    before = threads()
    inside, outside = Event(), Event()

    def first():
        with one_thread(1):
            inside.set()
            outside.wait(60)

    other = Thread(target=first)
    other.start()
    assert inside.wait(60)
    with one_thread(1):
        outside.set()
        other.join()
    assert threads() == before


def test_fits_in_threads_leave_the_number_of_threads_as_it_was():
    before = threads()
    X = np.random.default_rng(0).standard_normal((40, 12))
    with ThreadPoolExecutor(4) as pool:
        fits = [pool.submit(SparsePCA(3, cardinality=4).fit, X) for _ in range(40)]
        components = [fit.result().components_ for fit in fits]
    assert threads() == before
    for other in components[1:]:
        np.testing.assert_allclose(other, components[0], atol=1e-7)
