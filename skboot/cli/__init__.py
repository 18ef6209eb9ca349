"""Private: the command line, ``skboot score | compare | gate | ... FILE``.

`reading` takes columns out of files, `columns` makes arguments of them, `verbs` calls the public
function of each verb, `printing` says what came out. No module computes anything.
"""
