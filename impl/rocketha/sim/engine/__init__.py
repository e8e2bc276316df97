"""What every simulation is made of, whatever its protocol."""
