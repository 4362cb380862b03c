"""Where a run's answers are lost: in retrieval, in expansion, at the gate, in reading."""
