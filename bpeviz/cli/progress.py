"""Progress of a command on standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

from bpeviz import installation
from bpeviz.cli.errors import print_error
from bpeviz.progress import reporting_to


class Progress:
    """Displays the activity of a command and its progress on standard error.

    On a terminal, one line with the elapsed time is updated, and erased at the end. Elsewhere, such
    as in a file, and without the package rich, new lines are printed.

    Args:
        requested: Whether to display progress; None: only on a terminal.
    """

    LINE_SECONDS = 10.0
    """Seconds between two lines if standard error is not a terminal."""

    def __init__(self, requested: bool | None) -> None:
        self.is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self.shown = self.is_terminal if requested is None else requested

    def print(self, message: str) -> None:
        """Print a line."""
        if self.shown:
            print_error(message)

    def during(self, activity: str) -> contextlib.AbstractContextManager[None]:
        """Display an activity and its progress while the context is open."""
        if not self.shown:
            return contextlib.nullcontext()
        can_update = self.is_terminal and installation.has("rich")
        return _updated_line(activity) if can_update else self._lines(activity)

    @contextlib.contextmanager
    def _lines(self, activity: str) -> Iterator[None]:
        """Print a line at the beginning, at the end, and each ten seconds between."""
        start = last = time.monotonic()
        print_error(f"{activity} …")

        def listen(part: str, done: int, total: int) -> None:
            nonlocal last
            if (now := time.monotonic()) - last >= self.LINE_SECONDS:
                last = now
                print_error(f"{activity} … {now - start:.0f} s, {part}: {done:,} of {total:,}")

        with reporting_to(listen):
            yield
        print_error(f"{activity}: done after {time.monotonic() - start:.1f} s")


@contextlib.contextmanager
def _updated_line(activity: str) -> Iterator[None]:
    """Update one line of the terminal while the context is open."""
    from rich.console import Console  # only needed here, and importing it takes 0.1 seconds
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Line

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    line = Line(
        *columns,
        console=Console(file=sys.stderr),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with line:
        task = line.add_task(activity, total=None)

        def listen(part: str, done: int, total: int) -> None:
            description = f"{activity}, {part}: {done:,} of {total:,}"
            line.update(task, description=description, completed=done, total=total)

        with reporting_to(listen):
            yield
