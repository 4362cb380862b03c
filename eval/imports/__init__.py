"""Other people's answers and rankings become run folders."""
