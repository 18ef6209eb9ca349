"""`show_versions` prints what a bug report needs."""

import platform
import re
from importlib import metadata

import numpy as np

import skboot


def test_show_versions_names_python_and_every_package_with_its_version(capsys):
    skboot.show_versions()
    printed = capsys.readouterr().out
    lines = dict(re.findall(r"^ *([\w-]+): (.+)$", printed, re.M))
    assert lines["python"].startswith(platform.python_version())
    assert lines["numpy"] == np.__version__
    assert lines["scikit-learn"] == metadata.version("scikit-learn")
    assert lines["skboot"] == skboot.__version__
    assert "Threads of" in printed


def test_show_versions_says_what_is_not_installed(capsys, monkeypatch):
    def not_installed(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", not_installed)
    skboot.show_versions()
    printed = capsys.readouterr().out
    assert re.search(r"^ *matplotlib: not installed$", printed, re.M)
    assert f"skboot: {skboot.__version__}\n" in printed
