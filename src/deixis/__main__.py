"""`python -m deixis`, and with it `torchrun … -m deixis`."""

from deixis.cli import main

if __name__ == "__main__":
    main()
