"""Randomised reports through the server: sent without a name, counted once, read as SQL and as JSON."""
import os
import subprocess

import psycopg
import pytest

from harness import Served, binary


@pytest.fixture(scope="module")
def collecting(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collect")
    header = subprocess.run([os.environ.get("DISCREET_TOOL", binary()), "local", "randomize", "--oracle", "grr", "--epsilon", "4", "--values", "4", "--name", "drinks-2"],
                            input="", capture_output=True, text=True, check=True).stdout
    (folder / "drinks.header").write_text(header)
    with Served(arguments=("--reports", str(folder / "reports"), "--collection", str(folder / "drinks.header"))) as server:
        yield server


def reports(count, value=3):
    text = subprocess.run([os.environ.get("DISCREET_TOOL", binary()), "local", "randomize", "--oracle", "grr", "--epsilon", "4", "--values", "4", "--name", "drinks-2"],
                          input=f"{value}\n" * count, capture_output=True, text=True, check=True).stdout
    return text


def send(server, text, batch):
    return server.request("POST", f"/v1/collections/drinks-2/reports?batch={batch}", text)


def test_reports_need_no_token_and_a_batch_counts_once(collecting):
    text = reports(500)
    status, reply = send(collecting, text, "0" * 31 + "1")
    assert status == 200 and reply["accepted"] == 500, reply
    status, reply = send(collecting, text, "0" * 31 + "1")
    assert status == 200 and reply["repeated"] is True
    status, reply = collecting.request("GET", "/v1/collections")
    assert status == 200 and reply[0]["name"] == "drinks-2" and reply[0]["reports"] == 500


def test_estimates_are_sql_tables(collecting):
    with psycopg.connect(collecting.dsn()) as connection:
        rows = connection.execute("select value, estimate, low, high, reports from local.drinks_2 order by estimate desc").fetchall()
        assert len(rows) == 4 and rows[0][0] == "3" and rows[0][4] == 500
        assert rows[0][2] <= 500 <= rows[0][3] + 25
        names = connection.execute("select table_name from information_schema.tables where table_schema = 'local'").fetchall()
        assert ("drinks_2",) in names and ("drinks_2_top",) in names


def test_a_bad_report_is_refused_alone_and_unknown_collections_are_named(collecting):
    status, reply = collecting.request("POST", "/v1/collections/drinks-2/reports", reports(2) + '"bm8="\n')
    assert status == 200 and reply["accepted"] == 2 and reply["refused"] == 1, reply
    assert collecting.request("POST", "/v1/collections/teas/reports", reports(1))[0] == 404


def test_without_reports_there_are_no_collections(served):
    token = served.token("alice")
    assert served.request("GET", "/v1/collections", token=token) == (200, [])
