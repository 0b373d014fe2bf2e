"""Dead letters: replayed by the rules of `magicbyte dead-letter`, with the rights of the sender of a request."""
