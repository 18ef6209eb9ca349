"""The nine processes of the neutral benchmark that need no download, and the methods in it.

Schulz-Kuempel, Fischer, Hornung, Boulesteix, Nagler and Bischl (arXiv 2409.18836) put 13 methods
for intervals of the generalization error beside each other; their code is in
github.com/slds-lmu/paper_2023_ci_for_ge (revision d4d80b7), and the methods they recommend are kept
in github.com/mlr-org/mlr3inferr. All here is written from the paper, and read against this code.

| module | what it has |
|---|---|
| `processes` | populations, with the conditional law of the target that truths are made of |
| `learners` | the four learners, in the form of scikit-learn that is nearest to the paper's in R |
| `intervals` | the methods, from losses of trained models |
| `data_sets` | one data set: all trainings, shared by the methods that can, and all intervals |
| `outside` | the paper's own numbers for the same cells, from the history of its repository |

`cov_colon.csv` and `cov_breast.csv` are the covariance matrices of the columns of
`data/original/covariance/colon.data.txt` and `breast.2.class.data.txt` of the paper's repository
without the first (gene expressions: Alon et al. 1999; West et al. 2001), on which the processes
"colon" and "breast" stand (Janitza, Celik and Boulesteix 2018).
"""
