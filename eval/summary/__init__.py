"""Records to numbers per question type."""
