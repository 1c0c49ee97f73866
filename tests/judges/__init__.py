"""The scenarios on the engines themselves: ``python -m tests.judges``.

Read in this order: `engines` (which there are, and how each is run), `building` (Maven and
environments, in a cache), `random_scenarios` and `random_cases` (streams by seed), `questions` (ten
streams on which engines part), `decision`, `decisions`, `python_decisions` and `kafka_algorithm`
(what each difference is), `judging` (one engine over all of it), `page` and `picture` (what is
kept, and the page of the documentation). Each engine has a folder with its adapter: one or two
source files that read scenarios and write results in the format of
`tests.conformance.beamlike_conformance`.
"""
