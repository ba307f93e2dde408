"""The storage actor: shards with ``since`` and ``upper``, transactions over tables, subscriptions of workers."""
