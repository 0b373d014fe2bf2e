"""How clients share a resource: allowances of what each may hold, and queues in which they take turns."""
