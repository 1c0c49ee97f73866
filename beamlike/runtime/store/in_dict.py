"""A store in memory, for hosts whose shards keep their state in one process."""


class DictStore:
    """The state of a shard: blobs by number, and the index."""

    def __init__(self) -> None:
        self.buckets: dict[int, bytes] = {}
        self.index: bytes | None = None

    def read(self, number: int) -> bytes | None:
        return self.buckets.get(number)

    def write(self, number: int, blob: bytes | None) -> None:
        if blob is None:
            del self.buckets[number]
        else:
            self.buckets[number] = blob

    def read_index(self) -> bytes | None:
        return self.index

    def write_index(self, blob: bytes) -> None:
        self.index = blob
