"""A run as ONNX graphs, in 32 and in eight bits."""
