"""Published tokenizers, downloaded, verified and applied."""
