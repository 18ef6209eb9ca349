"""Which rows each run is trained on, and the seed of each: all drawn before anything runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.errors import counted
from .._base.work import child_seed, child_words
from ..splitters.bootstrap import draws_that_leave_some_out, rows_by_class
from .training import Run, rows_of_sample

# First key of all streams, under which no splitter with the same random state has one.
_PREFIX = 0x5EED
_SAMPLES, _FOLDS, _FULL_RUNS, _BOOTSTRAP_RUNS, _FOLD_RUNS = range(5)
_ORDERS, _PREFIXES = 6, 8
# Of the permutations for no-information scores, and of the resamples of test sets.
PERMUTATIONS, TEST_RESAMPLES = 5, 7

# Folds of a repeat: as many as the rarest class has rows, between these bounds.
MOST_FOLDS = 10
FEWEST_FOLDS = 5


@dataclass(frozen=True, eq=False)
class TrainingSamples:
    """The training samples of all runs.

    Attributes
    ----------
    counts : ndarray of shape (n_resamples, n_units)
        How often each unit is in each bootstrap sample.
    folds : ndarray of shape (n_repeats, n_samples)
        Fold of each row in each repeat of cross-validation.
    n_folds : int
    n_seeds : int
        Runs of each training sample.
    seed : numpy.random.SeedSequence
        Root of all streams.
    rows : sequence of ndarray or None
        Training rows of each bootstrap sample that the user gave: the first run of each keeps the
        random states that are set. None where samples are drawn.
    about_seeds : tuple of str
        Whether random states vary over the runs, for an estimator that has some.
    seeded : bool
        Whether runs have seeds, which take as long as a clone: not for an estimator without random
        states, of which no rows are shuffled.
    """

    counts: NDArray[Any]
    folds: NDArray[np.intp]
    n_folds: int
    n_seeds: int
    seed: np.random.SeedSequence
    rows: Sequence[NDArray[np.intp]] | None = None
    about_seeds: tuple[str, ...] = ()
    seeded: bool = True

    @property
    def n_bootstrap_runs(self) -> int:
        """Runs on bootstrap samples; they come first."""
        return len(self.counts) * self.n_seeds

    def runs(self) -> list[Run]:
        """All runs but those on all rows: bootstrap samples, then folds; seeds innermost.

        Runs of one sample have its rows in one order. In different orders an estimator without
        randomness would differ by rounding or by ties, which would look like variance due to the
        seed.
        """
        seeds, n_samples = range(self.n_seeds), len(self.counts)
        folds = [
            (repeat, fold) for repeat in range(len(self.folds)) for fold in range(self.n_folds)
        ]
        orders: Sequence[Any] = [None] * n_samples
        if self.n_seeds > 1:
            keys_of_orders = ((_PREFIX, _ORDERS, sample) for sample in range(n_samples))
            orders = child_words(self.seed, keys_of_orders)
        words: Iterator[Any] = itertools.repeat(None)
        if self.seeded:
            keys: list[tuple[int, ...]] = [
                (_PREFIX, _BOOTSTRAP_RUNS, sample, s) for sample in range(n_samples) for s in seeds
            ]
            keys += [(_PREFIX, _FOLD_RUNS, *fold, s) for fold in folds for s in seeds]
            words = iter(child_words(self.seed, keys))
        runs: list[Run] = []
        by_user = self.rows is not None
        rows: Sequence[Any] = [None] * n_samples if self.rows is None else self.rows
        for counts, order, train in zip(self.counts, orders, rows, strict=True):
            for s in seeds:
                keeps = by_user and s == 0
                runs.append(Run(len(runs), counts, None, next(words), order, train, keeps))
        for repeat, fold in folds:
            test = np.flatnonzero(self.folds[repeat] == fold)
            for _ in seeds:
                runs.append(Run(len(runs), None, test, next(words)))
        return runs

    def runs_for_tests(self) -> list[Run]:
        """Runs on bootstrap samples, then those on all rows but the first; seeds innermost."""
        runs = self.runs()
        for s in range(1, self.n_seeds):
            runs.append(Run(len(runs), None, None, full_run_seed(self.seed, s)))
        return runs


def draw_training_samples(
    n_rows: int,
    *,
    unit: NDArray[np.intp] | None,
    codes: NDArray[np.intp] | None,
    stratify: bool,
    n_resamples: int,
    n_repeats: int,
    n_seeds: int,
    seed: np.random.SeedSequence,
    user_counts: NDArray[Any] | None = None,
    user_rows: Sequence[NDArray[np.intp]] | None = None,
) -> TrainingSamples:
    """Draw all training samples.

    Parameters
    ----------
    n_rows : int
    unit : ndarray of shape (n_rows,) or None
        Group of each row, numbered from 0; None: rows are drawn.
    codes : ndarray of shape (n_rows,) or None
        Class of each row, numbered from 0; folds hold the classes evenly.
    stratify : bool
        Whether bootstrap samples are drawn within classes.
    n_resamples, n_repeats, n_seeds : int
        Bootstrap samples, repeats of cross-validation, runs of each.
    seed : numpy.random.SeedSequence
    user_counts : ndarray of shape (n_resamples, n_units), optional
        How often each unit is in samples that are not drawn here.
    user_rows : sequence of ndarray, optional
        Their rows, where the user gave them.

    Returns
    -------
    TrainingSamples
    """
    n_units = n_rows if unit is None else int(unit.max()) + 1
    counts: NDArray[Any] = np.empty((n_resamples, n_units), dtype=np.uint8)
    if user_counts is not None:
        counts = user_counts
    elif n_resamples > 0:
        strata = rows_by_class(codes) if stratify else [np.arange(n_units)]
        draws = draws_that_leave_some_out(strata, n_resamples, stream(seed, _SAMPLES))
        for sample, (n_drawn, _) in enumerate(draws):
            if n_drawn.max() > np.iinfo(counts.dtype).max:
                counts = counts.astype(np.uint16)
            counts[sample] = n_drawn
    # Ten folds, or the rows of the rarest class if these are fewer, but not under five.
    rarest = MOST_FOLDS if codes is None else int(np.bincount(codes).min())
    n_folds = min(n_units, MOST_FOLDS, max(rarest, FEWEST_FOLDS))
    rng = np.random.default_rng(stream(seed, _FOLDS))
    folds = [_folds(n_rows, unit, codes, n_folds, rng) for _ in range(n_repeats)]
    of_repeats = np.array(folds).reshape(-1, n_rows)
    return TrainingSamples(counts, of_repeats, n_folds, n_seeds, seed, user_rows)


class DrawnSamples(Sequence[Any]):
    """Training samples of a fit, drawn again from its seed when they are asked for.

    A sequence of (train, test), rows trained on, copies included, and rows left out: what
    ``train_samples=`` and the ``cv=`` of scikit-learn take.

    Parameters
    ----------
    draw : partial of draw_training_samples
    group_copies : bool
        Whether samples keep the order of the data.
    """

    def __init__(self, draw: partial[TrainingSamples], group_copies: bool) -> None:
        self._draw, self._group_copies = draw, group_copies

    @cached_property
    def _runs(self) -> list[Run]:
        """The first run of each sample."""
        samples = self._draw()
        # A seed is only read for the order of rows that are shuffled.
        runs = replace(samples, seeded=not self._group_copies).runs()
        return runs[: samples.n_bootstrap_runs : samples.n_seeds]

    def __len__(self) -> int:
        return int(self._draw.keywords["n_resamples"])

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[number] for number in range(*k.indices(len(self)))]
        all_rows, unit = np.arange(self._draw.args[0]), self._draw.keywords["unit"]
        train, outside = rows_of_sample(self._runs[k], all_rows, unit, self._group_copies)
        return train, np.flatnonzero(outside)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_runs"}

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'training sample')} of {counted(self._draw.args[0], 'row')}>"

    def to_dict(self) -> dict[str, list[list[int]]]:
        """Return the rows of all samples, for a file.

        Returns
        -------
        dict
            Under "train" and "test" a list of 0-based row numbers for each sample.
        """
        pairs = list(self)
        return {
            side: [pair[k].tolist() for pair in pairs] for k, side in enumerate(("train", "test"))
        }


def nested_samples(
    sizes: Sequence[int],
    n_samples: int,
    codes: NDArray[np.intp] | None,
    n_units: int,
    seed: np.random.SeedSequence,
) -> NDArray[np.uint8]:
    """Draw training sets of several sizes, of which each holds the smaller ones.

    Parameters
    ----------
    sizes : sequence of int
        Units in each, rising.
    n_samples : int
        How many of each size.
    codes : ndarray of shape (n_units,) or None
        Class of each unit, numbered from 0: the smallest sets hold a unit of each.
    n_units : int
    seed : numpy.random.SeedSequence

    Returns
    -------
    ndarray of shape (n_sizes * n_samples, n_units)
        Which units are in each: 1 or 0. Each is the beginning of an order that ends with a fold of
        ten, so that those of 90% leave all units out equally often.
    """
    rng = np.random.default_rng(stream(seed, _PREFIXES))
    counts = np.zeros((len(sizes), n_samples, n_units), dtype=np.uint8)
    folds = np.empty(n_units, dtype=np.intp)
    for sample in range(n_samples):
        fold = sample % MOST_FOLDS
        if fold == 0:
            folds = _folds(n_units, None, codes, MOST_FOLDS, rng)
        order = rng.permutation(n_units)
        order = order[np.argsort(folds[order] == fold, kind="stable")]
        if codes is not None:
            # A unit of each class comes among the first, in place of one of a commoner class.
            of_first = np.bincount(codes[order[: sizes[0]]], minlength=int(codes.max()) + 1)
            for lacking in np.flatnonzero(of_first == 0):
                comes = np.flatnonzero(codes[order] == lacking)[0]
                goes = np.flatnonzero(codes[order[: sizes[0]]] == of_first.argmax())[0]
                of_first[codes[order[goes]]] -= 1
                of_first[lacking] += 1
                order[[goes, comes]] = order[[comes, goes]]
        for k, size in enumerate(sizes):
            counts[k, sample, order[:size]] = 1
    return counts.reshape(-1, n_units)


def full_run_seed(seed: np.random.SeedSequence, s: int) -> NDArray[Any]:
    """Return the words that seed a run on all rows, (4,)."""
    return stream(seed, _FULL_RUNS, s).generate_state(4)


def stream(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return a child of a seed that no splitter with the same random state draws from."""
    return child_seed(seed, _PREFIX, *key)


def _folds(
    n_rows: int,
    unit: NDArray[np.intp] | None,
    codes: NDArray[np.intp] | None,
    n_folds: int,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Return the fold of each row: of whole groups, or of rows dealt out class by class."""
    if unit is not None:
        fold_of_group = rng.permutation(int(unit.max()) + 1) % n_folds
        return fold_of_group[unit]
    order = rng.permutation(n_rows)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(n_rows, dtype=np.intp)
    # Each class is dealt on from where the last one ended, so that no fold is more than one row
    # larger than another.
    fold[order] = np.arange(n_rows) % n_folds
    return fold
