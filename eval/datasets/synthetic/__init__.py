"""Generated conversations: a small world of facts that change, expressed in chat turns."""
