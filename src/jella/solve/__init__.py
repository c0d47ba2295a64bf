"""How a problem is solved: the plan, the updates, the start, the loop and its result."""
