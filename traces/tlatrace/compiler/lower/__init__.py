"""From SANY's tree to the closed tree: names, configuration, instances and primes resolved."""
