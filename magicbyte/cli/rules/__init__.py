"""`magicbyte rules`: the rules of schemas explained, checked, tried and measured."""
