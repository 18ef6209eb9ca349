"""Train an estimator on many training samples, and keep of each run what the metrics need.

From the ground up: `training` fits one run and answers for its rows; `inner_cv` keeps copies of a
row together in searches inside a bootstrap sample; `measures` says what is kept of a run for each
metric; `engine` runs them all, in parallel and resumably; `estimates` turns what was kept into
errors with their standard errors. `skboot.scorer` is the public face.

Private: may change without notice.
"""
