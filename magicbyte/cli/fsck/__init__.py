"""`magicbyte fsck`."""
