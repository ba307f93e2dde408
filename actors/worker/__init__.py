"""The worker: renders dataflows, keeps arrangements, answers reads."""
