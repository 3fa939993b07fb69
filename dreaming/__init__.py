"""What happens at night: light, REM and deep sleep over the recall store of one workspace.

For programs: `from dreaming import open_workspace`.
"""

from typing import Any

__all__ = ["open_workspace"]


def __getattr__(name: str) -> Any:
    """Load the Python API when somebody asks for it, so that `dream --help` does not."""
    if name in __all__:
        from dreaming import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
