"""The compatibility rules of Protobuf, the pairing of declarations, and the cautions."""
