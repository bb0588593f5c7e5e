"""Why a picture and a text fit: what their parts found in each other, drawn for people."""
