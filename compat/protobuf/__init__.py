"""PROTOBUF: parser, printer, linker and compatibility rules of `.proto` schemas."""
