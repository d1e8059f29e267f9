"""BPE training with NumPy: the same merges as `bpeviz.trainers.bpe`, faster."""
