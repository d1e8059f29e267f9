"""Links that restore the state of a page."""
