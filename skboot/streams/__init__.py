"""Private: metrics of data that are never together, from sums keyed by resample."""
