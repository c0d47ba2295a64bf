"""One file per data set. To add a set, add a file with CASES, a list of `leaderboard.case.Case`."""
