"""pgcli, pgjdbc, node-postgres and pgbench."""
import os
import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ.get("DISCREET_BUILD", HERE.parents[1] / "build"))
JDBC = pathlib.Path("/usr/share/java/postgresql.jar")


def need(program):
    found = shutil.which(program)
    if not found:
        pytest.fail(f"{program} is not installed; tools/setup/debian.sh test installs it")
    return found


def test_pgcli_lists_and_asks(served):
    need("pgcli")
    env = dict(served.environment(), HOME=str(served.folder), XDG_CONFIG_HOME=str(served.folder))
    script = "set discreet.epsilon = 0.05;\n\\dt\n\\d people\nselect ward, count(*) as n from people group by ward order by 1;\n\\q\n"
    done = subprocess.run(["pgcli", "--less-chatty"],
                          env=env, input=script, capture_output=True, text=True, timeout=90)
    said = done.stdout + done.stderr
    assert "people" in said and "person_id" in said and "MAT" in said, said
    assert "secret" not in said and "Traceback" not in said, said


def test_pgjdbc_queries_prepares_and_reads_metadata(served):
    need("javac")
    assert JDBC.exists(), "libpostgresql-jdbc-java is not installed; tools/setup/debian.sh test installs it"
    classes = served.folder / "classes"
    classes.mkdir(exist_ok=True)
    subprocess.run(["javac", "-d", str(classes), str(HERE / "JdbcClient.java")], check=True, timeout=120)
    done = subprocess.run(["java", "-Xshare:auto", "-cp", f"{classes}:{JDBC}",
                           "JdbcClient", served.host, str(served.port)],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith("all good"), done.stdout


def test_node_postgres(served):
    node = need("node")
    modules = BUILD / "node_clients"
    if not (modules / "node_modules/pg").exists():
        subprocess.run(["sh", str(HERE.parents[1] / "tools/setup/node_clients.sh"), str(modules)], check=True, timeout=300)
    done = subprocess.run([node, str(HERE / "node_client.cjs"), served.host, str(served.port)],
                          env=dict(os.environ, NODE_PATH=str(modules / "node_modules")), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith("all good"), done.stdout


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_pgbench_runs_a_script_without_errors(served, mode):
    need("pgbench")
    script = served.folder / "bench.sql"
    script.write_text("explain select count(*) from people where age > 40;\nselect count(*) from wards;\n")
    done = subprocess.run(["pgbench", "-n", "-M", mode, "-c", "4", "-t", "25", "-f", str(script)],
                          env=dict(served.environment(), PGOPTIONS="-c client_min_messages=warning"),
                          capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert "number of transactions actually processed: 100/100" in done.stdout, done.stdout
