"""What protoc refuses."""
