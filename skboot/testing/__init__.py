"""Assertions about models, for pytest and continuous integration."""

import typing

from .._base import lazy as _lazy

if typing.TYPE_CHECKING:
    from ..comparison import assert_not_worse

__all__ = ["assert_not_worse"]

__getattr__, __dir__ = _lazy.names_from(__name__, {".comparison": ["assert_not_worse"]})
