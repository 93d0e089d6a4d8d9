"""Write the bill of materials of a wheel, as CycloneDX and PEP 770 have it.

It lists the wheels whose libraries and headers the wheel was built with, in their versions, and the
compiler's library, parts of which are linked into it. Run by CMake:

    sbom.py FILE WHEEL VERSION COMPILER DISTRIBUTION...
"""

import importlib.metadata
import json
import sys
from pathlib import Path


def component(name: str, version: str, license_name: str, url: str) -> dict[str, object]:
    """Return the entry of a part."""
    entry = {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}
    return entry | {"licenses": [{"license": {"name": license_name}}]}


def of_distribution(name: str) -> dict[str, object]:
    """Return the entry of an installed wheel."""
    about = importlib.metadata.metadata(name)
    # Some put the whole text there.
    stated = about.get("License-Expression") or about.get("License") or "see its wheel"
    version = about["Version"].partition("+")[0]
    return component(name, version, stated.strip().split("\n")[0], f"pkg:pypi/{name}@{version}")


def main(file: str, wheel: str, version: str, compiler: str, *distributions: str) -> None:
    """Write the file."""
    wheel = wheel.replace("_", "-")
    own = component(wheel, version, "Apache-2.0", f"pkg:pypi/{wheel}@{version}")
    parts = [of_distribution(name) for name in distributions]
    terms = "GPL-3.0-or-later WITH GCC-exception-3.1"
    parts.append(component("libstdc++", compiler, terms, f"pkg:generic/libstdc%2B%2B@{compiler}"))
    needs = {"ref": own["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}
    known = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}
    known |= {"metadata": {"component": own}, "components": parts, "dependencies": [needs]}
    Path(file).write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
