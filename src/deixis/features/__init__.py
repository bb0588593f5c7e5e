"""Files and words in, numbers out: an image file becomes regions, a text becomes tokens.

Everything here speaks numpy, so that a search can run without torch.
"""
