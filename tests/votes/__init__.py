"""A world for vote shares: the hashes, ballots, a chain's REST interface, provers and a wallet."""
