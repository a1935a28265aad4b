"""The parameters of one statement, named as they are added: what is written into the statement is only the place of each."""

from __future__ import annotations

from mgrep_tui.clickhouse.values import Value


class Bound:
    """Collects parameters. `add` gives what stands in the statement."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}

    def add(self, value: Value, kind: str) -> str:
        """`{p0:String}` and the like; `kind` is one of our own words."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"{{{name}:{kind}}}"

    def text(self, value: str) -> str:
        return self.add(value, "String")

    def raw(self, value: bytes) -> str:
        """Bytes, which need not be text. Not for what an index is asked for: it does not see through `unhex`."""
        return f"unhex({self.add(value.hex(), 'String')})"

    def texts(self, values: list[str]) -> str:
        return self.add(values, "Array(String)")

    def numbers(self, values: list[int]) -> str:
        return self.add(values, "Array(UInt64)")

    def hashes(self, values: list[bytes]) -> str:
        """For `content IN (…)`."""
        return f"(SELECT toFixedString(unhex(arrayJoin({self.add([value.hex() for value in values], 'Array(String)')})), 16))"
