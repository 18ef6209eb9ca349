"""Numbers from trainings on samples: out-of-bag, .632, cross-validated errors and their intervals.

Private: may change without notice. `skboot.inference` shows what is public.
"""
