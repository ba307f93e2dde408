"""What a system measures of itself, and how it is shown.

The actors keep plain numbers in objects that they alone write (:mod:`.figures`), because a message handler takes
microseconds and whatever it counts must not take one more. Whoever asks reads these numbers from another thread,
without waiting for an actor that is busy, and gives them the form of Prometheus (:mod:`.exposition`).
"""
