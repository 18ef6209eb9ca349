"""Methods without a test set: designs, and every interval of a data set from the same trainings.

| module | what it has |
|---|---|
| `designs` | learners that train on all weighted samples at once, populations, losses |
| `parts` | from a data set to what intervals are made of; other methods' intervals |
| `candidates` | forms of the "cv-bootstrap" interval that were tried |
| `table` | cells, each once, and the CSV that a stopped run goes on with |
"""
