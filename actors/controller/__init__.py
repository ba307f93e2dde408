"""The controller actor: collections, timestamps, read holds, commands to replicas, answers to the application."""
