"""Kills that are triggered by what is seen, not by a clock."""

import threading
import time


def when(seen, act):
    """Act as soon as something is seen; triggered by progress, not by a timer."""

    def watch():
        until = time.monotonic() + 600
        while not seen() and time.monotonic() < until:
            time.sleep(0.05)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread
