"""psql: questions, prices, refusals, catalog commands, COPY, settings."""


def test_a_question_is_answered_with_its_price(served):
    done = served.psql("-At", "-c", "SET discreet.epsilon = 0.1", "-c", "select count(*) from people")
    assert done.returncode == 0, done.stderr
    assert abs(int(done.stdout.split()[-1]) - 2000) < 2000
    assert "cost: epsilon 0.1" in done.stderr and "left to alice" in done.stderr


def test_a_repeated_question_is_free_and_the_same(served):
    ask = ["-At", "-c", "SET discreet.epsilon = 0.1", "-c", "select ward, count(*) from people group by ward order by 1"]
    first, second = served.psql(*ask), served.psql(*ask)
    assert first.stdout == second.stdout
    assert "cost: nothing" in second.stderr


def test_explain_spends_nothing_and_names_the_price(served):
    done = served.psql("-At", "-c", "explain select avg(age) from people")
    assert "cost: epsilon 0.5" in done.stdout and "error at 95 %" in done.stdout
    done = served.psql("-At", "-c", "explain (format json) select avg(age) from people")
    assert '"epsilon"' in done.stdout


def test_a_twin_is_made_once_and_is_then_public(served):
    make = "create table twin as synthesize people with (epsilon = 0.3, fast = true, workload = '2way')"
    made = served.psql("-Atc", make)
    assert made.returncode == 0 and made.stdout.startswith("twin|") and "cost: epsilon 0.3" in made.stderr, made.stderr
    rows = made.stdout.strip().split("|")[1]
    counted = served.psql("-Atc", "select count(*) from twin")
    assert counted.stdout.strip() == rows and "cost: nothing" in counted.stderr
    assert "the same answer as before" in served.psql("-Atc", make).stderr
    # Everybody sees it, marked, wherever tables are listed.
    assert served.psql("-Atc", "select name, public, synthetic from discreet.tables where synthetic", user="carol").stdout.strip() == "twin|t|t"
    assert "twin" in served.psql("-c", r"\dt").stdout and "income" in served.psql("-c", r"\d twin", user="carol").stdout
    assert "secret" not in served.psql("-Atc", "select column_name from information_schema.columns where table_name = 'twin'").stdout
    status, reply = served.request("GET", "/v1/tables", token=served.token("carol"))
    assert status == 200 and [t["name"] for t in reply["tables"] if t["synthetic"]] == ["twin"]
    assert [t["public"] for t in reply["tables"] if t["synthetic"]] == [True]


def test_rows_of_people_are_refused_with_state_hint_and_position(served):
    done = served.psql("-v", "VERBOSITY=verbose", "-c", "select age from people")
    assert done.returncode != 0
    assert "0A000" in done.stderr and "HINT:" in done.stderr and "LINE 1:" in done.stderr


def test_a_wrong_password_is_refused(served):
    import subprocess
    env = dict(served.environment(), PGPASSWORD="wrong-password")
    done = subprocess.run(["psql", "-X", "-c", "select 1"], env=env, capture_output=True, text=True)
    assert done.returncode != 0 and "authentication failed" in done.stderr
    env = dict(served.environment("nobody"))
    done = subprocess.run(["psql", "-X", "-c", "select 1"], env=env, capture_output=True, text=True)
    assert done.returncode != 0 and "authentication failed" in done.stderr


def test_backslash_d_lists_tables_and_columns_but_not_hidden_ones(served):
    listed = served.psql("-c", r"\d")
    assert listed.returncode == 0, listed.stderr
    assert "people" in listed.stdout and "wards" in listed.stdout
    assert served.psql("-c", r"\dt").stdout.count("people") == 1
    shown = served.psql("-c", r"\d people")
    assert shown.returncode == 0, shown.stderr
    for column in ("person_id", "ward", "age", "born"):
        assert column in shown.stdout
    assert "secret" not in shown.stdout
    for command in (r"\dn", r"\l", r"\du", r"\df", r"\dv", r"\di", r"\d+ people", r"\dt+", r"\conninfo", r"\dT", r"\d discreet.ledger"):
        done = served.psql("-c", command)
        assert done.returncode == 0 and "ERROR" not in done.stderr, (command, done.stderr)


def test_tables_of_others_do_not_show(served):
    status, reply = served.request("GET", "/v1/tables", token=served.token("alice"))
    assert status == 200 and {t["name"] for t in reply["tables"] if not t["synthetic"]} == {"people", "wards"}
    # The policy lets carol ask about wards only.
    status, reply = served.request("GET", "/v1/tables", token=served.token("carol"))
    assert status == 200 and {t["name"] for t in reply["tables"] if not t["synthetic"]} == {"wards"}
    listed = served.psql("-At", "-c", r"\dt", "-c", "select table_name from information_schema.tables", "-c", "select name from discreet.tables", user="carol")
    assert listed.returncode == 0 and "wards" in listed.stdout and "people" not in listed.stdout, listed.stdout
    assert served.psql("-At", "-c", "select count(*) from wards", user="carol").stdout.strip() == "3"


def faces(served, table, user, token):
    """What every way of asking says about a table, with its name taken out."""
    import psycopg
    statements = [f"select count(*) from {table}", f"select count(*) from public.{table}", f"select age from {table}", f"select {table}.nothing from {table}",
                  f"select count(*) from wards w join {table} p on p.ward = w.ward", f"select (select count(*) from {table}) from wards",
                  f"with x as (select ward from {table}) select ward, count(*) from x group by ward", f"select count(*) from {table}s"]
    said = []
    for sql in statements + [f"explain {sql}" for sql in statements] + [
            f"explain (format json) {statements[0]}", f"copy ({statements[0]}) to stdout", f"copy {table} to stdout", f"select '{table}'::regclass",
            f"select to_regclass('{table}')", f"select * from pg_class where relname = '{table}'", f"select * from information_schema.columns where table_name = '{table}'",
            f"select * from discreet.columns where table_name = '{table}'", f"create table carols as synthesize {table}", f"explain create table carols as synthesize {table}",
            f"create table carols as select * from synthesize('{table}', epsilon => 0.1)",
            f"create table {table} as synthesize wards", f"explain create table {table} as synthesize wards", f"create table {table} as synthesize nowhere", f"insert into {table} values (1)", f"drop table {table}",
            f"\\d {table}", f"\\d+ {table}", f"\\dt {table}", f"\\d public.{table}"]:
        done = served.psql("-v", "VERBOSITY=verbose", "-c", sql, user=user)
        said.append((sql, done.returncode, done.stdout, done.stderr))
    with psycopg.connect(served.dsn(user), autocommit=True) as connection:
        for sql in statements:  # described before it is run
            try:
                said.append((sql, connection.execute(sql + " limit %s", (1,), prepare=True).fetchall()))
            except psycopg.Error as refused:
                said.append((sql, refused.sqlstate, str(refused)))
    for sql in statements + [f"create table carols as synthesize {table}", f"create table {table} as synthesize wards", f"create table {table} as synthesize nowhere"]:
        for path in ("/v1/query", "/v1/explain"):
            said.append((sql, path, served.request("POST", path, {"sql": sql}, token=token)))
    return [repr(one).replace(table, "TABLE") for one in said]


def test_a_table_of_others_reads_like_one_that_does_not_exist(served):
    token = served.token("carol")
    theirs, nobodys = faces(served, "people", "carol", token), faces(served, "xeople", "carol", token)
    assert len(theirs) == len(nobodys) > 50
    for one, other in zip(theirs, nobodys):
        assert one == other
    assert not any("people" in one for one in nobodys), nobodys  # nor as a suggestion
    # Hidden columns likewise, for those who may ask about the table.
    for sql in ("select count({}) from people", "select {}, count(*) from people group by 1", "explain select max({}) from people", "select people.{} from people"):
        hidden, absent = (served.psql("-v", "VERBOSITY=verbose", "-c", sql.format(name)) for name in ("secret", "sexret"))
        assert hidden.returncode != 0 and hidden.stderr.replace("secret", "sexret") == absent.stderr


def test_catalog_tables_show_ones_own_ledger_only(served):
    served.psql("-c", "SET discreet.epsilon = 0.1", "-c", "select count(*) from people where age > 50", user="bob")
    own = served.psql("-At", "-c", "select distinct account from discreet.ledger").stdout.split()
    assert own == ["alice"]
    everybody = served.psql("-At", "-c", "select distinct account from discreet.ledger", user="owner").stdout.split()
    assert {"alice", "bob"} <= set(everybody)
    budget = served.psql("-At", "-c", "select account from discreet.budget order by 1").stdout.split()
    assert budget == ["alice", "default"]
    columns = served.psql("-At", "-c", "select name from discreet.columns where table_name = 'people'").stdout.split()
    assert "age" in columns and "secret" not in columns
    assert served.psql("-At", "-c", "select name from discreet.tables where not synthetic order by 1").stdout.split() == ["people", "wards"]


def test_the_catalog_reaches_no_file(served):
    for sneaky in ("select * from pg_catalog.read_text('/etc/passwd')", "select * from read_csv('/etc/passwd'), pg_class",
                   "select getenv('HOME'), pg_backend_pid()", "select * from '/etc/passwd', pg_class",
                   "select pg_backend_pid(); copy (select 1) to '/tmp/x'"):
        done = served.psql("-At", "-c", sneaky)
        assert done.returncode != 0 and "root:" not in done.stdout, sneaky


def test_settings_can_be_set_shown_and_reset(served):
    done = served.psql("-At", stdin="set discreet.epsilon = 0.25;\nshow discreet.epsilon;\nreset discreet.epsilon;\n"
                                    "show discreet.epsilon;\nset discreet.epsilonn = 1;\nset discreet.epsilon = 'nan';\n"
                                    "show server_version;\nshow transaction isolation level;\n")
    assert done.stdout.split("\n")[1] == "0.25" and done.stdout.split("\n")[3] == "0.5"
    assert "did you mean" in done.stderr and done.stderr.count("ERROR") == 2


def test_transactions_are_accepted_and_a_charge_is_not_rolled_back(served):
    done = served.psql("-At", stdin="begin;\nset discreet.epsilon = 0.05;\nselect count(*) from people where age > 71;\nrollback;\n"
                                    "select count(*) from discreet.ledger where statement like '%71%';\n")
    assert done.stdout.split()[-1] == "1", done
    failed = served.psql("-At", stdin="begin;\nselect age from people;\nselect 1;\ncommit;\nselect 2;\n")
    assert "current transaction is aborted" in failed.stderr and failed.stdout.split()[-2:] == ["ROLLBACK", "2"]


def test_copy_to_stdout_in_text_and_csv(served):
    done = served.psql("-c", "copy (select ward, beds from wards order by beds) to stdout with (format csv, header)")
    assert done.stdout == "ward,beds\nICU,10\nER,20\nMAT,30\n"
    done = served.psql("-c", "copy (select ward, beds from wards order by beds) to stdout")
    assert done.stdout == "ICU\t10\nER\t20\nMAT\t30\n"
    assert served.psql("-c", "copy people to stdout").returncode != 0
    assert served.psql("-c", "copy (select age from people) to stdout").returncode != 0
    assert served.psql("-c", "copy people from stdin", stdin="1\n").returncode != 0


def test_error_columns_come_when_asked_for(served):
    done = served.psql("--csv", "-c", "set discreet.errors = on", "-c", "set discreet.epsilon = 0.1", "-c",
                       "select ward, count(*) as n from people group by ward order by 1")
    assert done.stdout.splitlines()[2] == "ward,n,n_error95", done.stdout
    assert float(done.stdout.splitlines()[3].split(",")[2]) > 0


def test_several_statements_at_once(served):
    done = served.psql("-At", "-c", "select 1; select 'a;b'; select count(*) from wards")
    assert done.stdout.split() == ["1", "a;b", "3"]


def test_an_exhausted_budget_says_so(served):
    ask = ("-v", "VERBOSITY=verbose", "-c", "set discreet.epsilon = 0.4", "-c")
    served.psql(*ask, "select count(*) from people where age > 33", user="bob")
    done = served.psql(*ask, "select count(*) from people where age > 34", user="bob")
    assert done.returncode != 0 and "53400" in done.stderr and "budget of 'bob'" in done.stderr
