"""Score cards, the site of cards, the leaderboard."""
