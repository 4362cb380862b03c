"""Where vectors and relations live: protocols, and the engines that keep them."""
