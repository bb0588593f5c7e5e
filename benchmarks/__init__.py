"""Speed and memory as ratios: ours beside a baseline, measured in one process."""
