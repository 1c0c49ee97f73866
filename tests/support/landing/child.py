"""A process that writes micro-batches until it is killed: ``python -m tests.support.landing.child
KIND HOME TABLE FROM TO [SERVER] [POINT NUMBER]``. It says each number once its batch is written, as
a query commits a batch after its sink. At a point of a micro-batch it kills itself.
"""

import sys
from pathlib import Path

import beamlike as bl
from tests.support.landing.changes import random_batch
from tests.support.landing.places import places
from tests.support.landing.stopping import POINTS, stop


def main(kind: str, home: str, table: str, first: str, last: str, *more: str) -> None:
    stops = more[-2:] if more[-2:-1] and more[-2] in POINTS else ()
    server = more[: len(more) - len(stops)]
    if kind == "jdbc":
        bl.local_session()
    place = places(kind, Path(home), table, *server)
    if stops:
        stop(place.target, stops[0], int(stops[1]))
    write = bl.upsert_into(place.target, "user", dead_letters=f"{table}_lost")
    print("ready", flush=True)
    for number in range(int(first), int(last) + 1):
        write(random_batch(number), number)
        print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
