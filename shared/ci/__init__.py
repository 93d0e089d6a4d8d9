"""What the nox sessions share: the list of packages, their wheels, the environments they run in."""
