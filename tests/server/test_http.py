"""The HTTP contract: every path, every format, every refusal."""
import json

import jsonschema
import nanoarrow
import nanoarrow.ipc
import pytest

from harness import PASSWORD

ASK = "select ward, count(*) as n, avg(age) as age from people where age > 26 group by ward order by 1"


@pytest.fixture(scope="module")
def token(served):
    status, reply = served.request("POST", "/v1/login", {"name": "alice", "password": PASSWORD})
    assert status == 200 and reply["role"] == "analyst", reply
    return reply["token"]


@pytest.fixture(scope="module")
def owner(served):
    return served.request("POST", "/v1/login", {"name": "owner", "password": PASSWORD})[1]["token"]


@pytest.fixture(scope="module")
def schema(served):
    return served.request("GET", "/openapi.json")[1]


def fits(schema, name, value):
    jsonschema.validate(value, {**schema["components"]["schemas"][name], "components": schema["components"]})


def test_health_metrics_and_openapi_need_no_token(served):
    assert served.request("GET", "/healthz") == (200, b"ok")
    status, metrics = served.request("GET", "/metrics")
    assert status == 200 and b"discreet_connections" in metrics
    status, document = served.request("GET", "/openapi.json")
    assert status == 200 and document["openapi"].startswith("3.1")


def metric(served, name):
    lines = served.request("GET", "/metrics")[1].decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


def test_metrics_tell_the_slot_of_an_answer_and_not_how_long_the_engine_took(served, token):
    spent = 'discreet_request_seconds_sum{kind="question"}'
    for ask in (lambda: served.request("POST", "/v1/query", {"sql": "select count(*) from people where age > 61", "epsilon": 0.01}, token=token),
                lambda: served.psql("-c", "set discreet.epsilon = 0.01", "-c", "select count(*) from people where age > 62")):
        before = metric(served, spent)
        ask()
        slots = (metric(served, spent) - before) / 0.010  # the quantum of this server
        assert slots > 0.5 and abs(slots - round(slots)) < 1e-3, slots


def test_noise_of_a_count_of_people_is_drawn_ahead(served, token):
    before = metric(served, "discreet_noise_ahead_total")
    status, _ = served.request("POST", "/v1/query", {"sql": "select count(distinct person_id) from people where age > 63", "epsilon": 0.01}, token=token)
    assert status == 200 and metric(served, "discreet_noise_ahead_total") == before + 1
    served.request("POST", "/v1/query", {"sql": "select count(distinct person_id) from people where age > 63", "epsilon": 0.01}, token=token)
    assert metric(served, "discreet_noise_ahead_total") == before + 1  # an answer on record needs none


def test_every_path_of_the_openapi_document_is_served(served, schema, owner):
    for path, methods in schema["paths"].items():
        for method in methods:
            body = {"sql": "select 1"} if method == "post" else None
            status, _ = served.request(method.upper(), path, body, token=None if path == "/v1/logout" else owner)
            assert status != 404, (method, path)


def test_without_a_token_there_is_nothing(served):
    for method, path in (("GET", "/v1/me"), ("GET", "/v1/tables"), ("POST", "/v1/query"), ("GET", "/v1/budget"),
                         ("GET", "/v1/ledger"), ("POST", "/v1/explain"), ("GET", "/v1/owner/analysts")):
        assert served.request(method, path, {})[0] == 401
        assert served.request(method, path, {}, token="dsc_wrong")[0] == 401


def test_query_explain_budget_and_ledger_fit_their_schemas(served, token, schema):
    status, price = served.request("POST", "/v1/explain", {"sql": ASK, "epsilon": 0.1}, token=token)
    assert status == 200 and price["cost"]["epsilon"] == 0.1
    fits(schema, "Explanation", price)
    status, answer = served.request("POST", "/v1/query", {"sql": ASK, "epsilon": 0.1}, token=token)
    assert status == 200 and not answer["repeated"] and len(answer["rows"]) == 4
    assert answer["columns"][1]["error95"] > 0 and isinstance(answer["rows"][0][1], (int, float))
    fits(schema, "Answer", answer)
    status, again = served.request("POST", "/v1/query", {"sql": ASK, "epsilon": 0.1}, token=token)
    assert again["repeated"] and again["rows"] == answer["rows"] and again["receipt"] == answer["receipt"]
    status, budget = served.request("GET", "/v1/budget", token=token)
    assert [a["name"] for a in budget["accounts"]] == ["alice", "default"]
    for account in budget["accounts"]:
        fits(schema, "Account", account)
    status, ledger = served.request("GET", "/v1/ledger?limit=2", token=token)
    assert len(ledger["events"]) == 2 and all(e["account"] == "alice" for e in ledger["events"])
    for event in ledger["events"]:
        fits(schema, "Event", event)
    older = served.request("GET", f"/v1/ledger?limit=2&before={ledger['next']}", token=token)[1]
    assert older["events"][0]["sequence"] < ledger["events"][-1]["sequence"]
    number, digest = answer["receipt"].split(":")
    assert int(number) > 0 and len(digest) == 64


def test_tables_show_no_hidden_column(served, token, schema):
    status, reply = served.request("GET", "/v1/tables", token=token)
    people = next(t for t in reply["tables"] if t["name"] == "people")
    fits(schema, "Table", people)
    assert people["unit"] == "person_id" and not people["public"] and people["max_rows_per_unit"] == 2
    columns = {c["name"]: c for c in people["columns"]}
    assert "secret" not in columns and columns["age"]["range"] == [0, 120]
    assert columns["ward"]["values"] == ["ICU", "ER", "MAT", "NONE"]


def test_csv_and_arrow_hold_the_same_rows(served, token):
    ask = {"sql": "select ward, beds, beds / 4.0 as part, beds > 15 as big, opened from wards order by beds"}
    rows = served.request("POST", "/v1/query", ask, token=token)[1]["rows"]
    status, text = served.request("POST", "/v1/query", {**ask, "format": "csv"}, token=token)
    assert status == 200 and text.decode().splitlines()[0] == "ward,beds,part,big,opened"
    assert [line.split(",")[0] for line in text.decode().splitlines()[1:]] == [row[0] for row in rows]
    status, stream = served.request("POST", "/v1/query", {**ask, "format": "arrow"}, token=token)
    with nanoarrow.ipc.InputStream.from_readable(stream) as source:
        array = nanoarrow.Array(source)
    names = [field.name for field in array.schema.fields]
    assert names == ["ward", "beds", "part", "big", "opened"]
    columns = [list(column.iter_py()) for column in array.iter_children()]
    assert columns[0] == [row[0] for row in rows] and columns[1] == [row[1] for row in rows]
    assert columns[2] == [row[2] for row in rows] and columns[3] == [row[3] for row in rows]
    assert [str(day) for day in columns[4]] == [row[4] for row in rows]


def test_refusals_have_code_hint_and_position(served, token):
    status, reply = served.request("POST", "/v1/query", {"sql": "select age from people"}, token=token)
    assert status == 400 and reply["error"]["code"] == "0A000" and reply["error"]["hint"] and reply["error"]["position"]
    assert served.request("POST", "/v1/query", {"sql": "select 1"}, token=token)[0] == 400
    assert served.request("POST", "/v1/query", "not json", token=token)[0] == 400
    assert served.request("POST", "/v1/query", {"sql": 7}, token=token)[0] == 400
    assert served.request("POST", "/v1/query", {"sql": ASK, "epsilon": -1}, token=token)[0] == 400
    assert served.request("DELETE", "/v1/query", token=token)[0] == 405
    assert served.request("GET", "/v1/nothing", token=token)[0] == 404
    assert served.request("GET", "/../../etc/passwd")[0] == 404
    assert served.request("GET", "/%2e%2e/%2e%2e/etc/passwd")[0] == 404


def test_an_idempotency_key_belongs_to_one_question(served, token):
    ask = {"sql": "select count(*) from people where age > 61", "epsilon": 0.05, "idempotency_key": "k1"}
    first = served.request("POST", "/v1/query", ask, token=token)
    assert first[0] == 200
    assert served.request("POST", "/v1/query", ask, token=token)[1]["rows"] == first[1]["rows"]
    other = {**ask, "sql": "select count(*) from people where age > 62"}
    assert served.request("POST", "/v1/query", other, token=token)[0] == 400


def test_the_owner_adds_analysts_and_grants(served, token, owner):
    assert served.request("GET", "/v1/owner/analysts", token=token)[0] == 403
    new = {"name": "dora", "password": "another-password", "epsilon": 0.1, "delta": 0, "of": "default"}
    status, account = served.request("POST", "/v1/owner/analysts", new, token=owner)
    assert status == 201 and account["epsilon"]["granted"] == 0.1
    dora = served.request("POST", "/v1/login", {"name": "dora", "password": "another-password"})[1]["token"]
    ask = lambda age: served.request("POST", "/v1/query", {"sql": f"select count(*) from people where age > {age}", "epsilon": 0.1}, token=dora)
    assert ask(51)[0] == 200
    status, reply = ask(52)
    assert status == 402 and reply["error"]["code"] == "53400"
    status, account = served.request("POST", "/v1/owner/grants", {"account": "dora", "epsilon": 0.2, "delta": 0, "note": "asked nicely"}, token=owner)
    assert status == 200 and abs(account["epsilon"]["granted"] - 0.3) < 1e-9
    assert ask(52)[0] == 200
    names = [a["name"] for a in served.request("GET", "/v1/owner/analysts", token=owner)[1]["analysts"]]
    assert {"alice", "bob", "dora"} <= set(names)
    assert served.request("POST", "/v1/owner/grants", {"account": "default", "epsilon": 1}, token=owner)[0] == 400


def test_tokens_of_the_command_line_work_and_logout_ends_a_session(served):
    made = served.token("bob")
    assert served.request("GET", "/v1/me", token=made)[1] == {"name": "bob", "role": "analyst", "account": "bob"}
    session = served.request("POST", "/v1/login", {"name": "bob", "password": PASSWORD})[1]["token"]
    assert served.request("POST", "/v1/logout", {}, token=session)[0] == 200
    assert served.request("GET", "/v1/me", token=session)[0] == 401


def test_the_log_holds_no_statement_no_value_and_no_secret(served, token):
    served.request("POST", "/v1/query", {"sql": "select count(*) from people where ward = 'MAT' and age > 27", "epsilon": 0.01}, token=token)
    text = (served.folder / "log.jsonl").read_text()
    assert "select" not in text and "MAT" not in text and PASSWORD not in text and "dsc_" not in text and token not in text
    assert any(line["event"] == "question" and line["user"] == "alice" for line in served.log_lines())
