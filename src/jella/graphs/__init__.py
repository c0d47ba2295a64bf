"""Graphs of samples: neighbours, groups, and what neighbours lend each other."""
