"""What all readers share: lines, JSON streams, the listing of a corpus, named problems."""
