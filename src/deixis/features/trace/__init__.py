"""From pointer strokes and timed words to boxes, and which stroke belongs to which words."""
