"""Models in files: one zip of plain data each, and nothing in it that loading could run."""
