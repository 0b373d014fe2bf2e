"""`magicbyte capacity`: what registries and proxies of a size need, from measured figures."""
