"""The command: one file a verb. Nothing heavy is imported before a verb runs."""

from deixis.cli.app import main as main
