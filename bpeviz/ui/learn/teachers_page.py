"""The teacher's page (being rewritten)."""

PARAMETER = "teacher"


def show() -> None:
    """Draw the page."""
