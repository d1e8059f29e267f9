"""Worker processes: started once, reused, limited and killed; the work itself stands elsewhere."""
