"""The largest size of an example; beyond it, the request is refused."""

from __future__ import annotations

from serdes.error import SerdesError

#: The most characters of an example, with the names of its fields.
MOST_CHARACTERS = 1 << 20


class ExampleTooLarge(SerdesError):
    """Every example of the schema exceeds a limit; the text names the limit."""


class Room:
    """The numbers of values and characters that may still be made for one example."""

    def __init__(self, values: int) -> None:
        """Make an empty example's room.

        Args:
            values: The most values.
        """
        self._values = self._values_left = values
        self._characters_left = MOST_CHARACTERS

    def take(self, characters: int = 0) -> None:
        """Count a value and its characters, before they are made.

        Raises:
            ExampleTooLarge: The example has no room for them.
        """
        self._values_left -= 1
        if self._values_left < 0:
            raise ExampleTooLarge(f"an example of this schema has more than {self._values} values")
        if characters > self._characters_left:
            raise ExampleTooLarge(f"an example of this schema has more than {MOST_CHARACTERS} characters")
        self._characters_left -= characters
