"""Networks in the layout of the timm library."""
