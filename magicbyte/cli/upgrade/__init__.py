"""`magicbyte upgrade`: checks before a rolling upgrade, and the leader's step-down."""
