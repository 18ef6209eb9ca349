"""What people type at the public functions works, or leads on in one step that works."""

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import skboot
from skboot import (
    BootstrapScorer,
    bootstrap_curve,
    bootstrap_runs,
    bootstrap_score,
    compare_across,
    compare_methods,
    compare_runs,
    compare_systems,
    learning_curve,
    plan_evaluation,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

N = 240
RNG = np.random.default_rng(0)
Y = np.tile([0, 1], N // 2)
A, B, C = (np.where(RNG.random(N) < share, 1 - Y, Y) for share in (0.1, 0.15, 0.2))
X = RNG.normal(size=(N, 2)) + Y[:, None]
FEW = {"n_resamples": 49, "random_state": 0}


def message_of(call, error=ValueError):
    with pytest.raises(error) as raised:
        call()
    return str(raised.value)


# ------------------------------------------------------------------ names of metrics


def test_scoring_takes_what_people_call_a_metric():
    fit = {"n_train_resamples": 12, "n_cv_repeats": 1, "random_state": 0}
    named, called = (
        BootstrapScorer(LogisticRegression(), scoring=name, **fit).fit(X, Y).result_
        for name in ("roc_auc", "auc")
    )
    assert (called.metric, called.estimate) == ("roc_auc", named.estimate)
    models = {"a": LogisticRegression(), "b": LogisticRegression(C=0.01)}
    found = compare_methods(models, X, Y, scoring=["AUC", "acc"], **fit)
    assert [*found] == ["roc_auc", "accuracy"]
    curve = learning_curve(LogisticRegression(), X, Y, scoring="auc", n_repeats=4, random_state=0)
    assert "ROC AUC" in curve.summary()


def test_a_loss_in_scoring_is_led_to_its_negated_scorer():
    call = BootstrapScorer(LogisticRegression(), scoring="log_loss").fit
    assert "'neg_log_loss'" in message_of(lambda: call(X, Y))


def test_runs_need_no_metric():
    assert bootstrap_runs(Y, [A, B, C], **FEW) == bootstrap_runs(
        Y, [A, B, C], metric="accuracy", **FEW
    )


@pytest.mark.parametrize("name", ["skill", "skill_score", "forecast_skill"])
def test_a_skill_leads_to_the_callable_of_forecast_and_reference(name):
    text = message_of(lambda: bootstrap_score(X[:, 0], Y, metric=name))
    advised = re.search(r"metric=(lambda .*), with y_pred=(.*) and greater_is_better=True", text)
    forecast, reference = Y.astype(float), np.zeros(N)
    known = {"np": np, "forecast": forecast, "reference": reference}
    metric, y_pred = (eval(code, known) for code in advised.groups())
    found = bootstrap_score(X[:, 0], y_pred, metric=metric, greater_is_better=True, **FEW)
    expected = 1 - np.mean((X[:, 0] - Y) ** 2) / np.mean(X[:, 0] ** 2)
    assert found.estimate == pytest.approx(expected, rel=1e-12)


# ------------------------------------------------------------------ shapes


@pytest.mark.parametrize("y_preds", [np.stack([A, B, C]), np.stack([A, B, C])[:, :, None] * [1, 0]])
def test_runs_for_one_system_lead_to_bootstrap_runs(y_preds):
    assert "bootstrap_runs(y_true, y_preds" in message_of(lambda: bootstrap_score(Y, y_preds))


def test_rows_of_several_dimensions_name_the_function_of_runs():
    turned = np.stack([A, B, C])[:, :, None].repeat(2, 2).transpose(1, 0, 2)
    assert "bootstrap_runs(y_true, y_preds)" in message_of(lambda: bootstrap_score(Y, turned))


def test_subgroups_of_two_columns_are_joined_as_the_error_says():
    text = message_of(lambda: bootstrap_score(Y, A, by=np.column_stack((B, C))))
    by = eval(re.search(r"by=(list\(.*\))\.", text)[1], {"a": B, "b": C})
    assert (0, 1) in bootstrap_score(Y, A, by=by, **FEW)


def test_subgroups_with_blocks_are_scored_apart_or_are_series():
    text = message_of(lambda: bootstrap_score(Y, A, by=B, block_length=5))
    assert "y_true[by == name]" in text
    assert "give strata=<the series> in place of by" in text
    bootstrap_score(Y[B == 1], A[B == 1], block_length=5, **FEW)
    bootstrap_score(Y, A, strata=B, block_length=5, **FEW)


# ------------------------------------------------------------------ folds and plans


@pytest.mark.parametrize("name", ["cv", "n_splits"])
def test_folds_lead_to_the_functions_of_scores_and_predictions_of_folds(name):
    models = {"a": LogisticRegression(), "b": LogisticRegression(C=0.1)}
    text = message_of(lambda: compare_methods(models, X, Y, **{name: 5}), TypeError)
    assert "skboot.model_selection.corrected_t(scores, n_train=90, n_test=10)" in text
    assert "skboot.model_selection.out_of_fold(search, X, y)" in text
    assert "'n_cv_repeats'" in text


def test_a_comparison_of_two_systems_is_the_pilot_that_its_pair_is():
    comparison = compare_systems(Y, {"a": A, "b": B}, **FEW)
    plan = plan_evaluation(comparison, difference=0.02)
    assert plan == plan_evaluation(comparison.pairs[0], difference=0.02)


def test_a_comparison_of_three_names_how_a_pair_is_taken():
    comparison = compare_systems(Y, {"a": A, "b": B, "c": C}, **FEW)
    text = message_of(lambda: plan_evaluation(comparison, margin=0.02))
    pair = eval(re.search(r"pilot\.pair\(.*?\)", text)[0], {"pilot": comparison})
    assert plan_evaluation(pair, margin=0.02).n_units > N


# ------------------------------------------------------------------ missing values


def missing(column, *rows):
    values = column.astype(float)
    values[[*rows]] = np.nan
    return values


def kept_as(text, columns):
    """What the line of an error leaves of the columns."""
    np_and_pandas = {"np": np, "pandas": pytest.importorskip("pandas")}
    code = re.search(r"(keep = .*)\. Or say", text)[1]
    columns = {**columns, **np_and_pandas}
    exec(code, columns)
    return columns


def test_missing_values_of_several_arguments_are_told_with_the_line_that_drops_their_rows():
    groups = np.array([None if k in (2, 5, 9) else f"g{k % 30}" for k in range(N)], dtype=object)
    given = {"y_true": missing(Y, 3), "y_pred": missing(A, 5, 7), "groups": groups}
    text = message_of(lambda: bootstrap_score(**given))
    assert "several: 1 in y_true, 2 in y_pred, 3 in groups. Drop 5 rows" in text
    left = kept_as(text, given)
    result = bootstrap_score(left["y_true"], left["y_pred"], groups=left["groups"], **FEW)
    assert result.n_samples == N - 5


def test_the_line_that_drops_rows_leaves_trials_what_they_are():
    trials = skboot.Trials(np.arange(N) % 20, np.arange(N) // 20)
    given = {"y_true": missing(Y, 3), "y_pred": missing(A, 5), "groups": trials}
    left = kept_as(message_of(lambda: bootstrap_score(**given)), given)
    assert isinstance(left["groups"], skboot.Trials)
    assert len(left["groups"]) == len(left["y_pred"]) == N - 2


def test_missing_values_of_systems_are_told_with_those_of_the_truth():
    systems = {"a": missing(A, 5, 7), "b": B, "c": missing(C, 5)}
    given = {"y_true": missing(Y, 3), "y_preds": systems}
    text = message_of(lambda: compare_systems(**given))
    assert "1 in y_true, 2 in y_preds['a'], 1 in y_preds['c']. Drop 3 rows" in text
    left = kept_as(text, given)
    assert compare_systems(left["y_true"], left["y_preds"], **FEW).n_samples == N - 3


def test_lists_and_probabilities_are_dropped_by_rows():
    share = np.clip(0.5 + 0.3 * RNG.normal(size=N), 0, 1)
    probabilities = np.column_stack((1 - share, share))
    probabilities[[4, 8], 0] = np.nan
    given = {"y_true": missing(Y, 3).tolist(), "y_pred": probabilities}
    text = message_of(lambda: bootstrap_score(**given, metric="log_loss"))
    left = kept_as(text, given)
    assert len(left["y_true"]) == len(left["y_pred"]) == N - 3


def columns_with_missing(kind):
    """Two columns of 240 labels that lack a value in 3 rows together, as a library has them."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    a, b = missing(Y, 3), missing(A, 5, 7)
    cells = [[None if np.isnan(cell) else int(cell) for cell in column] for column in (a, b)]
    if kind == "rows in another order of an index":
        return pandas.Series(a, index=np.arange(N)[::-1]), pandas.Series(b)
    make = {
        "categories": pandas.Categorical,
        "polars": polars.Series,
        "text of polars": polars.Series,
    }
    if kind == "text of polars":
        cells = [[None if cell is None else f"class {cell}" for cell in column] for column in cells]
    if kind == "mixed":
        return polars.Series(cells[0]), cells[1]
    if kind == "nullable":
        return a, pandas.array(cells[1], dtype="Int64")
    return make[kind](cells[0]), make[kind](cells[1])


KINDS = (
    "rows in another order of an index",
    "nullable",
    "categories",
    "polars",
    "text of polars",
    "mixed",
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_line_that_drops_rows_runs_on_columns_of_any_library(kind):
    y_true, y_pred = columns_with_missing(kind)
    given = {"y_true": y_true, "y_pred": y_pred}
    left = kept_as(message_of(lambda: bootstrap_score(**given)), given)
    result = bootstrap_score(left["y_true"], left["y_pred"], **FEW)
    at = np.delete(np.arange(N), [3, 5, 7])
    assert (result.n_samples, result.estimate) == (N - 3, np.mean(Y[at] == A[at]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_line_that_drops_rows_runs_on_a_frame_of_systems(library):
    frames = pytest.importorskip(library)
    cells = {
        name: [None if np.isnan(cell) else int(cell) for cell in column]
        for name, column in {"a": missing(A, 5, 7), "b": missing(B, 9)}.items()
    }
    given = {"y_true": missing(Y, 3), "y_preds": frames.DataFrame(cells)}
    left = kept_as(message_of(lambda: compare_systems(**given)), given)
    assert compare_systems(left["y_true"], left["y_preds"], **FEW).n_samples == N - 4


def test_missing_values_of_a_curve_are_told_together():
    given = {"y_true": missing(Y, 3), "y_score": missing(X[:, 0], 3, 4)}
    text = message_of(lambda: bootstrap_curve(**given))
    assert "1 in y_true, 2 in y_score. Drop 2 rows" in text


@pytest.mark.parametrize("as_array", [True, False])
def test_missing_values_of_runs_are_told_with_those_of_others(as_array):
    runs = [missing(A, 5), B.astype(float), missing(C, 7, 8)]
    given = {"y_true": missing(Y, 3), "y_preds": np.array(runs) if as_array else runs}
    text = message_of(lambda: bootstrap_runs(**given))
    assert "1 in y_true, 1 in y_preds[0], 2 in y_preds[2]. Drop 4 rows" in text
    left = kept_as(text, given)
    assert bootstrap_runs(left["y_true"], left["y_preds"], **FEW).n_samples == N - 4


@pytest.mark.parametrize("as_array", [True, False])
def test_missing_values_of_runs_of_methods_are_told_together(as_array):
    runs = {"a": [missing(A, 5), B.astype(float)], "b": [C.astype(float), missing(A, 6)]}
    if as_array:
        runs = {name: np.array(values) for name, values in runs.items()}
    groups = np.array([None if k == 9 else f"g{k % 30}" for k in range(N)], dtype=object)
    given = {"y_true": Y, "y_preds": runs, "groups": groups}
    text = message_of(lambda: compare_runs(**given))
    assert "1 in y_preds['a'][0], 1 in y_preds['b'][1], 1 in groups. Drop 3 rows" in text
    left = kept_as(text, given)
    groups = left["groups"]
    assert compare_runs(left["y_true"], left["y_preds"], groups=groups, **FEW).n_samples == N - 3


@pytest.mark.parametrize("library", ["numpy", "pandas"])
def test_missing_values_of_fits_are_told_together(library):
    groups = np.array([None if k == 9 else f"g{k % 30}" for k in range(N)], dtype=object)
    given = {"X": X, "y": missing(Y, 3), "groups": groups}
    if library == "pandas":
        frames = pytest.importorskip("pandas")
        given |= {"X": frames.DataFrame(X), "y": frames.Series(given["y"])}
    models = {"a": LogisticRegression(), "b": LogisticRegression(C=0.1)}
    for fit in (lambda: BootstrapScorer(models["a"]).fit(**given),
                lambda: compare_methods(models, **given)):  # fmt: skip
        text = message_of(fit)
        assert "1 in y, 1 in groups. Drop 2 rows" in text
        left = kept_as(text, given)
        assert len(left["X"]) == len(left["y"]) == len(left["groups"]) == N - 2
    tests = {f"{name}_test": {"new": column} for name, column in given.items()}
    text = message_of(lambda: BootstrapScorer(models["a"]).fit(X, Y, **tests))
    assert "1 in y_test['new'], 1 in groups_test['new']. Drop 2 rows" in text
    assert len(kept_as(text, tests)["X_test"]["new"]) == N - 2


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_data_frames_of_systems_are_dropped(library):
    frames = pytest.importorskip(library)
    table = frames.DataFrame({"a": missing(A, 5, 7), "b": B, "c": missing(C, 5)})
    groups = frames.Series([f"g{k % 30}" for k in range(N)])
    given = {"y_true": missing(Y, 3), "y_preds": table, "groups": groups}
    left = kept_as(message_of(lambda: compare_systems(**given)), given)
    groups = left["groups"]
    result = compare_systems(left["y_true"], left["y_preds"], groups=groups, **FEW)
    assert result.n_samples == N - 3
    assert list(result.systems) == ["a", "b", "c"]


def test_missing_values_of_one_argument_are_told_as_before():
    text = message_of(lambda: bootstrap_score(missing(Y, 3), A))
    assert "Got 1 such value, the first in row 3. Remove these rows from every argument" in text


# ------------------------------------------------------------------ long tables


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("question", [np.arange(60), [f"q{k}" for k in range(60)]])
def test_a_long_table_is_pivoted_as_the_error_says(library, question):
    frames = pytest.importorskip(library)
    values = RNG.random((60, 3))
    long = {
        "question": np.repeat(question, 3),
        "model": [*"abc"] * 60,
        "score": values.ravel(),
    }
    table = frames.DataFrame(long)
    text = message_of(lambda: compare_systems(None, table, metric="mean"))
    wide = eval(re.search(r"(table\.pivot\(.*?\))\.", text)[1], {"table": table})
    if library == "polars":
        wide = wide.drop("question")
    result = compare_systems(None, wide, metric="mean", **FEW)
    means = {name: system.estimate for name, system in result.systems.items()}
    assert means == pytest.approx(dict(zip("abc", values.mean(axis=0), strict=True)))


def test_three_systems_are_no_long_table_where_a_column_of_objects_holds_numbers():
    frame = pytest.importorskip("pandas").DataFrame({"a": A, "b": B.astype(object), "c": C})
    systems = {"a": A, "b": B, "c": C}
    assert compare_systems(Y, frame, **FEW) == compare_systems(Y, systems, **FEW)


def test_columns_of_dask_are_not_read_to_look_for_a_long_table():
    dask, frames = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    seen = []

    def read(part):
        seen.append(len(part))
        return part

    columns = frames.from_pandas(pandas.DataFrame({"a": A, "b": B, "c": C}), npartitions=2)
    columns = columns.map_partitions(read, meta=columns._meta)
    truth = frames.from_pandas(pandas.Series(Y), npartitions=2)
    numbers = []
    with dask.config.set(scheduler="synchronous"):
        for systems in ({name: columns[name] for name in "abc"}, columns):
            seen.clear()
            compare_systems(truth, systems, **FEW)
            numbers.append(len(seen))
    assert numbers[0] == numbers[1] > 0


def test_the_name_of_values_is_no_advice_where_there_are_predictions():
    call = BootstrapScorer(LogisticRegression(), scoring="mean").fit
    text = message_of(lambda: call(X, Y))
    assert "it takes predictions, not values of rows" in text
    assert "Did you mean" not in text


def test_labels_of_no_judge_are_refused_by_the_function_that_was_called():
    human = missing(Y, *range(100, N))
    text = message_of(lambda: bootstrap_score(human, A, proxy=3))
    assert text.startswith("The 'proxy' parameter of bootstrap_score must")


def test_a_frame_of_a_judge_has_its_values_by_system():
    frames = pytest.importorskip("pandas")
    at = np.arange(100, N)
    human = {"a": missing(A, *at), "b": missing(B, *at)}
    by_judge = {"a": C.astype(float), "b": Y.astype(float)}
    named, framed = (
        compare_systems(None, kind(human), metric="mean", proxy=kind(by_judge), **FEW)
        for kind in (dict, frames.DataFrame)
    )
    assert named == framed


def test_data_sets_in_a_long_table_have_the_same_recipe():
    frames = pytest.importorskip("pandas")
    long = {"data": [*"xyxy"], "model": [*"aabb"], "score": [0.1, 0.2, 0.3, 0.5]}
    table = frames.DataFrame(long)
    text = message_of(lambda: compare_across(table, greater_is_better=True))
    assert "table.pivot(index='data', columns='model', values='score')" in text
    assert len(skboot.compare_across(
        eval(re.search(r"(table\.pivot\(.*?\))\.", text)[1], {"table": table}),
        greater_is_better=True,
    ).pairs) == 1  # fmt: skip
