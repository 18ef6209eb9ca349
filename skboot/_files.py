"""Files that are whole or absent, whatever stops the process that writes them.

A file is written under a temporary name and then renamed. The temporary name holds the process and
the machine, so that files of a writer that was killed can be told from those of one at work.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

_TEMPORARY = re.compile(r"^\..*\.(?P<process>\d+)@(?P<machine>.*)\.[0-9a-f]{8}$")
# Longest time of a write (seconds), of which most take milliseconds; a temporary file that is older
# is abandoned even if its process number is in use, because systems give such numbers again.
_LONGEST_WRITE = 3600


def write_whole(path: str | os.PathLike[str], write: Callable[[IO[bytes]], Any]) -> None:
    """Put what `write` writes in the place of a file, once it is on the disk.

    Parameters
    ----------
    path : path-like
        File to write; of a link the file that it points to.
    write : callable
        Takes the open file.

    Raises
    ------
    OSError
        If the file cannot be written; it names the path as given, whatever name was tried.
    """
    target = Path(os.path.realpath(path))
    writer = f"{os.getpid()}@{_machine()}.{secrets.token_hex(4)}"
    temporary = target.with_name(f".{target.name}.{writer}")
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(temporary)):
            raise
        reason = error.strerror
        if not target.parent.exists():
            reason = f"There is no folder {str(Path(path).parent)!r}"
        raise type(error)(error.errno, reason, os.fspath(path)) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_abandoned(folder: str | os.PathLike[str], pattern: str) -> None:
    """Remove the temporary files that match a pattern of names and whose writer was killed."""
    if not Path(folder).is_dir():
        return
    for path in Path(folder).glob(pattern):
        # A file may go meanwhile, and one that is open cannot be removed on some systems.
        with contextlib.suppress(OSError):
            if not _may_be_written(path):
                path.unlink()


def _may_be_written(path: Path) -> bool:
    """Return whether the writer of a temporary file may be alive."""
    writer = _TEMPORARY.match(path.name)
    if writer is None or time.time() - path.stat().st_mtime > _LONGEST_WRITE:
        return False
    if writer["machine"] != _machine():
        return True
    if os.name == "nt":
        # An open file cannot be removed there, and `os.kill` would end the process.
        return False
    try:
        os.kill(int(writer["process"]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # The process of another user.
        return True
    return True


def _machine() -> str:
    return re.sub(r"[^\w-]", "-", socket.gethostname())
