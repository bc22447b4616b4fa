"""One thread where matrices are small, and as many as before afterwards."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from redac.threads import _SMALL, one_thread


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(limits=2, user_api="blas"):
        yield


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


def test_an_error_gives_the_threads_back():
    before = threads()
    with pytest.raises(ZeroDivisionError), one_thread(1):
        raise ZeroDivisionError
    assert threads() == before
    with one_thread(1):
        assert threads() == {1}
