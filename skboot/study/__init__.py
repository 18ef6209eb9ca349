"""From what a call asks to scores on resamples, and the results that are made of them."""
