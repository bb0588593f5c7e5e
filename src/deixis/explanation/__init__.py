"""Why a picture and a text match: attribution, attention, and the health of sets."""
