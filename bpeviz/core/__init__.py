"""Token boundaries, tokenizers and training histories: the model behind everything else."""
