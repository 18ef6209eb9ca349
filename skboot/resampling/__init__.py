"""Who is in a resample: designs, plans and blocks.

Private: may change without notice.
"""
