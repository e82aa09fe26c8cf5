#!/usr/bin/env python
"""Django's command line in a checkout."""

from config.manage import main

if __name__ == "__main__":
    main()
