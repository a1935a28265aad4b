"""What can go wrong, in words for a person: one sentence and a hint what to do."""


class MgrepError(Exception):
    """The root of our errors. `message` is one sentence; `hint` says what to do about it, and may be empty."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class QueryError(MgrepError):
    """The query or its pattern cannot be understood; `position` is a 0-based character offset into the query text."""

    def __init__(self, message: str, position: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint)
        self.position = position


class UnreadableError(MgrepError):
    """A file or folder cannot be read: gone, forbidden, not a regular file, or outside the root."""


class GoneError(UnreadableError):
    """A file that was known is not there any more."""


class IndexDamagedError(MgrepError):
    """A file of the index does not hold what its manifest promises; that part is to be built anew."""


class ModelError(MgrepError):
    """A model is missing, does not load, or is not the one that its checksum names."""


class ConfigError(MgrepError):
    """The configuration names something impossible; the message carries file and line."""


class Cancelled(Exception):  # noqa: N818  # not an error: control flow of a worker that was told to stop
    """Raised by `CancelToken.check` in a worker whose result nobody wants any more."""
