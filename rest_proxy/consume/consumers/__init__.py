"""Consumer instances: their groups, their buffers, and the threads that poll."""
