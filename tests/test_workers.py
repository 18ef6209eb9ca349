"""Work in chunks: one thread of BLAS, results from workers, and progress."""

import pytest
from joblib import parallel_config
from threadpoolctl import ThreadpoolController

from skboot._workers import Progress, in_chunks, single_threaded_blas


def times(factor, item):
    return factor * item


def test_matrix_products_have_one_thread_within():
    with single_threaded_blas(), single_threaded_blas():
        blas = ThreadpoolController().select(user_api="blas")
        assert all(library["num_threads"] == 1 for library in blas.info())


def test_results_of_workers_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr("skboot._workers._WORTH_WORKERS", 0.0)
    items = range(1, 40)
    alone = list(in_chunks(times, 3, items, n_jobs=1, seconds_each=1.0))
    assert alone == [[3 * item] for item in items]
    with parallel_config("threading"):
        chunks = list(in_chunks(times, 3, items, n_jobs=2, seconds_each=1.0))
    assert sorted([result] for chunk in chunks for result in chunk) == alone
    assert 1 < len(chunks) < len(items)


def test_an_impossible_number_of_workers_is_refused_even_for_no_work():
    with pytest.raises(ValueError, match="n_jobs == 0"):
        list(in_chunks(times, 3, [], n_jobs=0, seconds_each=1.0))


def test_progress_is_predicted_from_items_that_took_time(capsys):
    progress = Progress(20, "runs", 1)
    progress._start -= 10.0
    progress._reported -= 10.0
    progress.done(10, resumed=True)
    assert capsys.readouterr().err == ""
    progress.done(5)
    assert capsys.readouterr().err == "\r15/20 runs, 10 s left  "
    progress.done(8)
    assert capsys.readouterr().err == "\r20/20 runs, 0 s left  \n"
