"""Speed, memory and quality of redac beside its peers: ``make bench``."""
