"""What judges are asked and what they say: transitions, judgements, verdicts, differences."""
