"""Graphs of samples: neighbours, groups, and values that neighbours lend each other."""
