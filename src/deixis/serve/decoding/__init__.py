"""Pictures that strangers send, decoded in processes of their own with bounds."""
