"""Sign-in: who sends a request, by Basic, bearer token or client certificate."""
