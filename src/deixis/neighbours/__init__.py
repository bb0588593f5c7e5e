"""Exact nearest rows by inner product: numpy and ONNX Runtime, no torch."""
