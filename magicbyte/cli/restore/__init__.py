"""`magicbyte restore` and `magicbyte verify`: a backup into a registry, and compared with one."""
