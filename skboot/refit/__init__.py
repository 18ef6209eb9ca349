"""Train an estimator on many training samples, and keep of each run what the metrics need.

From the ground up: `lending` gives data to estimators such that none sees another's writes;
`inner_cv` keeps copies of a row together in searches inside a bootstrap sample; `training` fits one
run and answers for its rows. `samples` draws the rows and the seed of every run; `influence` and
`run_metrics` compute what is kept of a run for each metric, which `scoring` finds by its name;
`runner` runs them all, in parallel, and keeps them in a folder under a key from `identity`.
`run_records` reads what was kept; `estimates` turns it into errors with their standard errors, with
the help of `cross_validated`, `degrees_of_freedom` and `guards`; `differences` does so for two
methods. `skboot.scorer` is the public face.

Private: may change without notice.
"""
