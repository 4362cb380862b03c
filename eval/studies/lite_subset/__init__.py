"""Fixed subsets of a data set's questions, and what they tell of the score on all of them."""
