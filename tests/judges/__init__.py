"""The scenarios on the engines themselves: ``python -m tests.judges``.

Read in this order: `engines` (which there are, and how each is run), `building` (Maven and
environments, in a cache), `random_scenarios` and `random_cases` (streams by seed), `decisions`
(what each difference is), `judging` (one engine over all of it), `page` (what is kept, and the page
of the documentation). Each engine has a folder with its adapter: one or two source files that read
scenarios and write results in the format of `tests.conformance.beamlike_conformance`.
"""
