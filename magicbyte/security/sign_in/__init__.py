"""Sign-in: identifies the sender of a request by Basic credentials, bearer token or client certificate."""
