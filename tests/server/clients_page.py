#!/usr/bin/env python3
"""Writes docs/clients.md: one real session of every client, on the tests' little hospital.

usage: clients_page.py docs/clients.md       (DISCREET names the program, DISCREET_BUILD the build folder)
"""
import os
import pathlib
import re
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import PASSWORD, Served  # noqa: E402

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ.get("DISCREET_BUILD", HERE.parents[1] / "build"))


def main(path):
    server = Served(epsilon=50.0, arguments=["--quantum", "50"])
    out = []
    with server:
        env = server.environment()

        def tidy(text):
            text = text.replace(str(server.port), "5433").replace(server.http, "127.0.0.1:8433").replace(str(server.folder), "~")
            text = re.sub(r"dsc_[A-Za-z0-9_-]+", "dsc_...", text)
            return "\n".join(line.rstrip() for line in text.strip().splitlines())

        def section(title, words, language, code, output):
            out.append(f"## {title}\n\n{words}\n\n```{language}\n{textwrap.dedent(code).strip()}\n```\n```\n{tidy(output)}\n```\n")

        def run(command, stdin=None, extra=None):
            done = subprocess.run(command, env={**env, **(extra or {})}, input=stdin, capture_output=True, text=True, timeout=120)
            return done.stdout + (done.stderr if done.returncode or command[0] in ("psql",) else "")

        script = """\
            \\d people
            set discreet.epsilon = 0.1;
            explain select ward, count(*) as n, avg(age) as age from people group by ward;
            select ward, count(*) as n, avg(age) as age from people group by ward order by 1;
            select ward, count(*) as n, avg(age) as age from people group by ward order by 1;
            set discreet.errors = on;
            select ward, count(*) as n, avg(age) as age from people group by ward order by 1;
            select age, ward from people;
            select account, epsilon_granted, epsilon_left from discreet.budget;
            \\copy (select ward, beds from wards) to stdout with csv header
            """
        both = subprocess.run(["psql", "-X", "-e"], env=env, input=textwrap.dedent(script), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        section("psql", "`psql -h 127.0.0.1 -p 5433 -U alice -d discreet`. The price and what is left come as notices.", "sql", script, both.stdout)

        def once(text):
            """Without a terminal pgcli draws its prompt and its bar again and again: each line as it was last drawn, and no bar."""
            lines = [re.sub(r"^.*(alice@127:discreet> )", r"\1", line) for line in text.splitlines() if "[F2]" not in line]
            lines = [line for line in lines if line.strip() not in ("", "alice@127:discreet>")]
            return "\n".join(line for i, line in enumerate(lines) if i == 0 or line.rstrip() != lines[i - 1].rstrip())

        script = "\\dt\nset discreet.epsilon = 0.1;\nselect ward, count(*) as n from people group by ward;\n\\q\n"
        section("pgcli", "`pgcli -h 127.0.0.1 -p 5433 -u alice discreet`: completion knows tables and columns.", "sql", script,
                once(run(["pgcli", "--less-chatty"], stdin=script, extra={"HOME": str(server.folder), "XDG_CONFIG_HOME": str(server.folder)})))

        code = f"""
            import psycopg
            with psycopg.connect("host=127.0.0.1 port=5433 dbname=discreet user=alice password=...", autocommit=True) as c:
                c.add_notice_handler(lambda notice: print(notice.message_primary))
                c.execute("set discreet.epsilon = 0.1")
                print(c.execute("select count(*) from people where age > %s and ward = %s", (40, "ICU")).fetchone())
                try:
                    c.execute("select age from people")
                except psycopg.errors.FeatureNotSupported as refused:
                    print(refused.diag.message_primary, "|", refused.diag.message_hint)
            """
        real = textwrap.dedent(code).replace("port=5433", f"port={server.port}").replace("password=...", f"password={PASSWORD}")
        section("psycopg 3", "Parameters are bound, never pasted.", "python", code, run([sys.executable, "-c", real]))

        code = """
            import pandas, sqlalchemy
            engine = sqlalchemy.create_engine("postgresql+psycopg://alice:...@127.0.0.1:5433/discreet")
            with engine.connect() as c:
                c.execute(sqlalchemy.text("set discreet.epsilon = 0.1"))
                print(pandas.read_sql(sqlalchemy.text("select ward, count(*) as n, avg(income) as income from people group by ward"), c))
            print(sqlalchemy.inspect(engine).get_table_names())
            """
        real = textwrap.dedent(code).replace(":5433", f":{server.port}").replace("alice:...", f"alice:{PASSWORD}")
        section("SQLAlchemy and pandas", "", "python", code, run([sys.executable, "-c", real]))

        classes = server.folder / "classes"
        classes.mkdir()
        subprocess.run(["javac", "-d", str(classes), str(HERE / "JdbcClient.java")], check=True)
        section("JDBC (pgjdbc)", "The whole program is `tests/server/JdbcClient.java`.", "java",
                'Connection c = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:5433/discreet", "alice", "...");\n'
                'Statement s = c.createStatement();\ns.execute("set discreet.epsilon = 0.05");\n'
                'ResultSet r = s.executeQuery("select ward, count(*) as n, avg(age) as age from people group by ward order by 1");\n'
                'c.getMetaData().getColumns(null, "public", "people", "%");',
                run(["java", "-cp", f"{classes}:/usr/share/java/postgresql.jar", "JdbcClient", server.host, str(server.port)]))

        modules = BUILD / "node_clients"
        subprocess.run(["sh", str(HERE.parents[1] / "tools/setup/node_clients.sh"), str(modules)], check=True)
        section("node-postgres", "The whole program is `tests/server/node_client.cjs`.", "js",
                'const client = new Client({ host, port, user: "alice", password, database: "discreet" });\nawait client.connect();\n'
                'await client.query("set discreet.epsilon = 0.05");\n'
                'await client.query("select ward, count(*) as n from people where age > $1 group by ward order by 1", [35]);',
                run(["node", str(HERE / "node_client.cjs"), server.host, str(server.port)], extra={"NODE_PATH": str(modules / "node_modules")}))

        bench = server.folder / "explain.sql"
        bench.write_text("explain select ward, count(*) from people group by ward;\n")
        section("pgbench", "Load with a script of one's own (`PGOPTIONS` keeps the notices quiet).", "sh",
                'echo "explain select ward, count(*) from people group by ward;" > explain.sql\n'
                "PGOPTIONS='-c client_min_messages=warning' pgbench -n -f explain.sql -c 8 -t 500",
                run(["pgbench", "-n", "-f", str(bench), "-c", "8", "-t", "500"], extra={"PGOPTIONS": "-c client_min_messages=warning"}))

        token = server.token("alice")
        ask = '{"sql": "select ward, count(*) as n from people group by ward order by 1", "epsilon": 0.1}'
        section("curl", "HTTP is described in [http.md](http.md).", "sh",
                f"TOKEN=$(discreet user token alice --policy discreet.toml)\ncurl -s http://127.0.0.1:8433/v1/query -H \"Authorization: Bearer $TOKEN\" \\\n  -d '{ask}'",
                run(["curl", "-s", f"http://{server.http}/v1/query", "-H", f"Authorization: Bearer {token}", "-d", ask]))
    page = ["# Clients\n", "Any PostgreSQL client works. These are real sessions against a hospital of 1,000 made-up patients (`tests/server/harness.py`), "
            "written by `tests/server/clients_page.py`; every client is also in `make test`.\n",
            "| setting | |\n|---|---|\n| `discreet.epsilon`, `discreet.delta` | what one statement may cost (default 0.5; delta only for private keys) |\n"
            "| `discreet.errors = on` | a column `x_error95` behind every noisy column |\n"
            "| `discreet.idempotency_key` | the next question's key: a retry is never charged twice, another question under it is refused |\n"
            "| `client_min_messages = warning` | no notices |\n\n"
            "`SET` holds for the session; `PGOPTIONS='-c discreet.epsilon=0.1'` sets it at login. `BEGIN`, `COMMIT` and `ROLLBACK` are accepted, but a charge is never rolled back.\n"]
    pathlib.Path(path).write_text("\n".join(page + out))


if __name__ == "__main__":
    main(sys.argv[1])
