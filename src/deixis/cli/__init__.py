"""The command: one file per verb. Nothing heavy is imported before a verb runs."""

from deixis.cli.command import main as main
