import pytest

from harness import Served


@pytest.fixture(scope="session")
def served():
    server = Served(arguments=["--quantum", "10"])
    with server:
        yield server
    server.verify()
