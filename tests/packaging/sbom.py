"""``python -m tests.packaging.sbom WHEEL FOLDER`` writes the bill of materials of a wheel.

It is CycloneDX 1.6 as JSON: the wheel with its SHA-256, and all that it asks for, alone or with an
extra, in the version with which all tests passed (``.ci/requirements.lock``). The same wheel always
gives the same file.
"""

import hashlib
import json
import sys
import uuid
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK: Final = Path(__file__).resolve().parents[2] / ".ci" / "requirements.lock"
_NAMESPACE: Final = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of URLs, RFC 4122


def locked_versions(lock: Path = LOCK) -> dict[str, str]:
    """The version of each distribution in the lock, by its normalized name."""
    pinned = [line.split(" ")[0].partition("==") for line in lock.read_text("utf-8").splitlines()]
    return {canonicalize_name(name): version for name, sign, version in pinned if sign}


def bill_of(wheel: Path) -> dict[str, Any]:
    """The bill of materials of a wheel."""
    about = _metadata(wheel)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    purl = f"pkg:pypi/{about['Name']}@{about['Version']}"
    components = _components(about)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, digest)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": purl,
                "name": about["Name"],
                "version": about["Version"],
                "description": about["Summary"],
                "purl": purl,
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": purl, "dependsOn": [component["bom-ref"] for component in components]},
            *({"ref": component["bom-ref"]} for component in components),
        ],
    }


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(files.read(name))


def _components(about: Message) -> list[dict[str, Any]]:
    locked = locked_versions()
    asked: dict[str, list[Requirement]] = {}
    for line in about.get_all("Requires-Dist", []):
        requirement = Requirement(line)
        asked.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return [_component(name, asked[name], locked.get(name)) for name in sorted(asked)]


def _component(name: str, asked: list[Requirement], version: str | None) -> dict[str, Any]:
    """One that is not in the lock, since no test of a change needs it, has no version."""
    purl = f"pkg:pypi/{name}" + (f"@{version}" if version else "")
    needed = any(requirement.marker is None for requirement in asked)
    ranges = sorted({str(requirement.specifier) for requirement in asked})
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        **({"version": version} if version else {}),
        "scope": "required" if needed else "optional",
        "purl": purl,
        "properties": [{"name": "beamlike:allowed", "value": words} for words in ranges if words],
    }


if __name__ == "__main__":
    wheel, folder = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    bill = folder / f"{wheel.name.removesuffix('.whl')}.cdx.json"
    bill.write_text(json.dumps(bill_of(wheel), indent=2) + "\n", encoding="utf-8")
    print(bill)
