"""The arguments of the trials that are run by hand, ``python -m tests.NAME``."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter


def command_parser(module: str, description: str | None) -> ArgumentParser:
    """A parser that shows the docstring of the module as it is written."""
    return ArgumentParser(
        f"python -m {module}", description=description, formatter_class=RawDescriptionHelpFormatter
    )
