"""Training corpora: sample texts, files, pre-token counts in Parquet or from Dask."""
