"""The tests and the programs of an Apache Beam, run with its imports answered by this package.

Nothing of them is kept here: ``python -m tests.beam_suite`` installs Beam into an environment of
its own and takes them from there. ``units`` says which, ``environment`` installs, ``probe`` runs
them, once with Beam and once with beamlike, and ``table`` says which pass and why others fail;
``LATEST.md`` is the last of these tables. ``--host spark`` writes one of its own, ``SPARK.md``.
``checkout`` finds the katas and the Tour of Beam in a checkout of Beam's repository. ``programs``
runs programs with their command lines, by ``beamlike run``; ``PROGRAMS.md`` says what differs.
``names`` and ``stubs`` write what `beamlike.beam` has of Beam's names.
"""
