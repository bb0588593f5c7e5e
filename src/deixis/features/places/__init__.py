"""Where things are in a picture: cells, regions over them, phrases that are pointed at."""
