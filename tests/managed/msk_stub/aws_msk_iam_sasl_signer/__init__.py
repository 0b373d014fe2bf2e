"""Stands in for Amazon's signer: its tokens are JWTs without a signature, which a broker for development takes."""
