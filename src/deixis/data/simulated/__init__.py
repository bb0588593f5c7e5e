"""Simulated data: drawn scenes, and a simulated pointer for captioned photographs."""
