"""Contents of the distribution assay-server: the web app with its templates, static files, docs and demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("judgments", "pooling", "evaluation", "config", "demo")
# In a wheel these are inside the package config, because site-packages is shared; config/settings.py looks there first.
DATA = ("templates", "static", "docs")


class WebApp(BuildHookInterface[Any]):
    """Add the packages from the checkout, or from the sdist, which has them beside its pyproject.toml."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Choose the folders of a wheel or an sdist; an editable install needs none."""
        if version == "editable":
            return
        here = Path(self.root)
        base = here if (here / PACKAGES[0]).is_dir() else here.parent
        inside = "config/" if self.target_name == "wheel" else ""
        files = build_data["force_include"]
        files.update({str(base / name): name for name in PACKAGES})
        files.update({str(base / name): f"{inside}{name}" for name in DATA})
