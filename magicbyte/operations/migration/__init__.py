"""What a migration from another registry has to know before it begins: findings, and a plan with a way back."""
