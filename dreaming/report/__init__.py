"""One page in HTML that shows what happened in a workspace, and why."""
