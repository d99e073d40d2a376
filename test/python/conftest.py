import os
from pathlib import Path

import pytest

import tenon


@pytest.fixture
def world():
    with tenon.World() as w:
        w.add_plane()
        yield w


def pytest_configure(config):
    # The tests are about the installed package, not the sources beside them.
    assert "site-packages" in Path(tenon.__file__).parts or os.environ.get("TENON_IN_PLACE")
    config.addinivalue_line("markers", "long: only in make test-long")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("long") and not os.environ.get("TENON_LONG"):
            item.add_marker(pytest.mark.skip(reason="in make test-long"))
