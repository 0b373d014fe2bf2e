"""`magicbyte diff`: what differs between two registries."""
