"""Private: the command line, ``skboot score | compare | gate | ... FILE``.

`columns` makes arguments of the columns of a file, `verbs` calls the public function of each verb,
`main` parses the call and says what came out. No module computes anything.
"""
