"""How often intervals hold the truth: ours and other tools', on cells whose truth is known.

``make coverage-study STUDY=name`` runs a study of `studies/` for at most 40 minutes, goes on where
the last part stopped, and appends to `results/name.csv`. Pages and tests read nothing else.

| module | what it has |
|---|---|
| `samples` | what a tool is given: predictions of a frozen system, or rows to train on |
| `scores` | the metrics, for skboot by name and for other tools as a fast function |
| `systems`, `pairs`, `real` | systems and pairs of them with their truths, simulated or real |
| `exceptions` | data sets on which no coverage is promised |
| `ours`, `peers`, `references` | the tools: skboot, other packages, published recipes |
| `pair_tools` | those that compare two systems |
| `neutral` | processes, learners and methods of a benchmark that is not ours |
| `runner` | cells, seeds, parts that resume, the CSV |
| `code_marks` | which code made a line of the CSV, and whether it changed since |
| `acceptance` | the rule that judges a study |
| `page` | tables and the picture of the documentation; a module of `page/sections` a topic |
"""
