"""The `dream` command, also as `python -m dreaming`."""


def main() -> None:
    """Run the command line."""
    from dreaming.cli import dream

    dream(prog_name="dream")


if __name__ == "__main__":
    main()
