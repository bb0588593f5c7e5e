"""Speech while pointing: recorded words become text with times, on this machine alone."""
