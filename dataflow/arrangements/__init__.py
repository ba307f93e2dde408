"""Indexed collections: batches, spines of batches, and the traces through which everybody reads them."""
