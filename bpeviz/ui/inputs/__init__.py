"""The inputs that the pages share: one module per subject."""
