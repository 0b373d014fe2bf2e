"""`magicbyte ids`: the schema ids that a topic's records really have."""
