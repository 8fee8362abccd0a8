"""Files that are packed with gzip, unpacked as they are read."""

import gzip
import io


class _Piecemeal(io.RawIOBase):
    """Gives what could be unpacked before it meets damage, so that its line can be named."""

    def __init__(self, unpacked: gzip.GzipFile) -> None:
        self._unpacked = unpacked

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._unpacked.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def unpacked(file: io.BufferedReader) -> io.RawIOBase:
    """The bytes that are packed in a file."""
    return _Piecemeal(gzip.GzipFile(fileobj=file))
