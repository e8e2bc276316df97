"""Values with one place changed: what traces, steps and rows are corrupted with."""
