"""`magicbyte dead-letter`: looks through topics of dead letters, and sends the records back."""
