"""Tables and reports for a person to read."""
