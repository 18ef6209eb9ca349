"""Train an estimator on many training samples, and keep of each run what the metrics need.

From the ground up: `lending` gives data to estimators such that none sees another's writes;
`training` fits one run, answers for its rows, and runs them all, in parallel and from where a fit
that was stopped had come to, in a folder under a key from `identity`. `samples` draws the rows and
the seed of every run; `run_metrics` computes what is kept of a run for each metric, which `scoring`
finds by its name, and reads what was kept. `estimates` turns it into errors with their standard
errors; `differences` does so for two methods. `skboot.scorer` is the public face.

Private: may change without notice.
"""
