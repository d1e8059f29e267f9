"""What several tests share: texts, files, pages, and other libraries."""
