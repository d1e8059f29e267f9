"""bpeviz without POSIX: no priorities, resource limits, pipe sizes, alarms and forks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bpeviz.pretokenizers import expressions
from bpeviz.workers import serving
from bpeviz.workers.child import Child

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).resolve().parent / "portability"
ROOT = FOLDER.parents[1]
OURS = str(ROOT / "bpeviz") + os.sep
"""How a line with a warning about our code begins; the environment may be below ROOT, too."""


def test_long_jobs_and_expressions_work_without_posix(tmp_path: Path) -> None:
    """Every process, also the workers, lacks what Windows lacks; the locale is not UTF-8."""
    without = (FOLDER / "without_posix.py").read_text("utf-8")
    (tmp_path / "sitecustomize.py").write_text(without, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name[:3] != "LC_"}
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONWARNDEFAULTENCODING": "1",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", str(FOLDER / "use.py"), str(FOLDER / "without_posix.py")],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[-2] == "done ü"
    assert "stopped" in done.stdout
    warned = [line for line in done.stderr.splitlines() if "EncodingWarning" in line]
    assert not [line for line in warned if line.startswith(OURS)], warned


def test_stopped_expression_is_a_time_out_where_killed_processes_exit_with_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Windows ends a process with the code that Python uses for an exception."""
    end = Child.end

    def end_as_on_windows(child: Child) -> int:
        end(child)
        return 1

    monkeypatch.setattr(Child, "end", end_as_on_windows)
    monkeypatch.setattr(serving, "WORKER_CLOCK", 0.1)
    with pytest.raises(TimeoutError):
        expressions.ends("((){50000})", "a", 3.0)
