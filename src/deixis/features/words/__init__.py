"""Words: tokenisers, vocabularies, pretrained vectors."""
