"""What the verbs share: options, printing, progress, exit codes."""
