"""Every example of the gallery runs without a warning, and draws within 20 s of CPU time.

Three run here, all of them with ``make gallery``. The demo has no warning either.
"""

import re
import runpy
import time
from pathlib import Path

import pytest

plt = pytest.importorskip("matplotlib.pyplot")
EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
SCRIPTS = sorted(EXAMPLES.glob("plot_*.py"))
SOME = {"01", "08", "12"}  # as in docs/conf.py


def as_parameter(script):
    marks = () if script.stem.split("_")[1] in SOME else pytest.mark.gallery
    return pytest.param(script, id=script.stem, marks=marks)


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("script", list(map(as_parameter, SCRIPTS)))
def test_an_example_draws_within_twenty_seconds(script):
    plt.close("all")
    before = time.process_time()
    runpy.run_path(str(script), run_name="__main__")
    assert time.process_time() - before < 20
    drawn = plt.get_fignums()
    plt.close("all")
    assert drawn


def test_the_demo_prints_three_tables_without_a_warning(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "demo.py"), run_name="__main__")
    plt.close("all")
    printed = capsys.readouterr()
    assert printed.out.count("| name |") == 3
    assert not printed.err
    assert len(list((tmp_path / "demo_output").iterdir())) == 3


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_opens_with_a_title(script):
    title, line = re.match(r'"""\n(.+)\n(=+)\n\n', script.read_text(encoding="utf-8")).groups()
    assert len(title) == len(line)


def test_the_site_runs_the_same_examples_where_it_runs_some():
    [some] = re.findall(r'SOME = r?"plot_\((.+)\)_"', (EXAMPLES.parent / "conf.py").read_text())
    assert set(some.split("|")) == SOME
