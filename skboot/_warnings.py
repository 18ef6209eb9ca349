"""Warnings that point at the line of the user's that caused them."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path

# A context manager of the package ends inside a frame of contextlib.
_SKIPPED = (f"{Path(__file__).parent}{os.sep}", str(contextlib.__file__))


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest caller outside the package, however deep inside it the call stands.

    A filter of Python shows a warning once a place: were it a place inside the package, all such
    warnings of a session would share it.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
