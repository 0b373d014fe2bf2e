"""The preparation of a migration from another registry: findings, and a plan with a way back."""
