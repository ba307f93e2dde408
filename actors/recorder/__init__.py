"""Recording a running system: what is noted where it is sent, and the actor that writes it."""
