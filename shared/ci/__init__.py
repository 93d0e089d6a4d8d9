"""Parts of the nox sessions: the list of packages, their wheels, the environments they run in."""
