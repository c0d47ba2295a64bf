"""Models in files: each is one zip of plain data, without anything that loading could run."""
