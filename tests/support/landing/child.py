"""A process that writes micro-batches until it is killed: ``python -m tests.support.landing.child
KIND HOME TABLE FROM TO [SERVER]``. It says each number once its batch is written, as a query
commits a batch after its sink.
"""

import sys
from pathlib import Path

import beamlike as bl
from tests.support.landing.changes import random_batch
from tests.support.landing.places import places


def main(kind: str, home: str, table: str, first: str, last: str, *server: str) -> None:
    if kind == "jdbc":
        bl.local_session()
    place = places(kind, Path(home), table, *server)
    write = bl.upsert_into(place.target, "user", dead_letters=f"{table}_lost")
    print("ready", flush=True)
    for number in range(int(first), int(last) + 1):
        write(random_batch(number), number)
        print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
