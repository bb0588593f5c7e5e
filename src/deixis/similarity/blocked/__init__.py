"""Any similarity over whole galleries in bounded memory: blocks, best items, chosen pairs."""
