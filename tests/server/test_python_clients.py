"""psycopg 3, SQLAlchemy and pandas as people use them."""
import datetime
import decimal
import threading
import time

import pandas
import psycopg
import pytest
import sqlalchemy

from harness import PASSWORD


@pytest.fixture()
def connection(served):
    with psycopg.connect(served.dsn(), autocommit=True) as made:
        made.execute("set discreet.epsilon = 0.05")
        yield made


def test_psycopg_binds_parameters_of_every_kind(connection):
    ask = "select count(*) from people where age > %s and ward = %s and born > %s and vip = %s and income < %s"
    row = connection.execute(ask, (30, "ER", datetime.date(1950, 1, 1), True, decimal.Decimal("1500.25"))).fetchone()
    assert isinstance(row[0], int)
    again = connection.execute(ask, (30, "ER", datetime.date(1950, 1, 1), True, decimal.Decimal("1500.25"))).fetchone()
    assert row == again
    assert connection.execute("select ward, beds from wards where beds > %s order by beds", (15.5,)).fetchall() == [("ER", 20), ("MAT", 30)]


def test_a_parameter_is_a_value_never_text_of_the_statement(connection):
    for evil in ("x' or '1'='1", "ER'; select 1; --", "$1", "\\"):
        rows = connection.execute("select beds from wards where ward = %s", (evil,)).fetchall()
        assert rows == []
    with pytest.raises(psycopg.Error):
        connection.execute("select beds from wards where beds = %s::int", ("1 or 1=1",)).fetchall()


def test_psycopg_reads_binary_results(served):
    with psycopg.connect(served.dsn(), autocommit=True) as made:
        made.execute("set discreet.epsilon = 0.05")
        text = made.cursor().execute("select ward, beds, opened, beds > 15 as big, beds / 4.0 as part from wards order by beds").fetchall()
        binary = made.cursor(binary=True).execute("select ward, beds, opened, beds > 15 as big, beds / 4.0 as part from wards order by beds").fetchall()
        assert text == binary
        assert text[0][:4] == ("ICU", 10, datetime.date(2001, 1, 1), False)
        mean = made.cursor(binary=True).execute("select avg(age) from people").fetchone()[0]
        assert mean == made.cursor().execute("select avg(age) from people").fetchone()[0]


def test_psycopg_prepares_and_describes(connection):
    cursor = connection.cursor()
    for age in (30, 31, 30):
        cursor.execute("select count(*) as n from people where age > %s", (age,), prepare=True)
        assert cursor.description[0].name == "n" and cursor.description[0].type_code == 20
        cursor.fetchone()


def test_psycopg_sees_notices_and_sqlstates(served):
    with psycopg.connect(served.dsn(), autocommit=True) as made:
        notices = []
        made.add_notice_handler(lambda d: notices.append(d.message_primary))
        made.execute("set discreet.epsilon = 0.05")
        made.execute("select count(*) from people where age > 44")
        assert any("left to alice" in n for n in notices)
        with pytest.raises(psycopg.errors.FeatureNotSupported) as refused:
            made.execute("select age from people")
        assert refused.value.diag.message_hint and refused.value.diag.statement_position
        with pytest.raises(psycopg.errors.UndefinedTable):
            made.execute("select count(*) from nothing")
        with pytest.raises(psycopg.errors.SyntaxError):
            made.execute("select count(* from people")


def test_psycopg_transactions_and_copy(served):
    with psycopg.connect(served.dsn()) as made:
        with made.transaction():
            assert made.execute("select 1").fetchone() == (1,)
        with pytest.raises(psycopg.Error):
            with made.transaction():
                made.execute("select age from people")
        assert made.execute("select count(*) from wards").fetchone() == (3,)
        with made.cursor().copy("copy (select ward from wards order by 1) to stdout") as copy:
            assert [row[0] for row in copy.rows()] == ["ER", "ICU", "MAT"]


def test_rows_can_be_streamed(served):
    with psycopg.connect(served.dsn(), autocommit=True) as made:
        assert list(made.cursor().stream("select ward from wards order by 1")) == [("ER",), ("ICU",), ("MAT",)]
        assert made.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_cancel_stops_waiting_and_the_connection_lives_on(served):
    with psycopg.connect(served.dsn(), autocommit=True) as made:
        made.execute("set discreet.epsilon = 0.01")
        timer = threading.Timer(0.05, made.cancel)
        timer.start()
        started = time.time()
        try:
            made.execute("select count(*) from pg_class a, generate_series(1, 100000000) b, generate_series(1, 1000) c")
        except psycopg.errors.QueryCanceled:
            pass
        except psycopg.Error:
            pytest.fail("cancelling gave another error")
        assert time.time() - started < 20
        timer.join()
        assert made.execute("select 1").fetchone() == (1,)


def test_sqlalchemy_and_pandas(served):
    engine = sqlalchemy.create_engine(
        f"postgresql+psycopg://alice:{PASSWORD}@{served.host}:{served.port}/discreet")
    with engine.connect() as made:
        made.execute(sqlalchemy.text("set discreet.epsilon = 0.05"))
        rows = made.execute(sqlalchemy.text("select ward, count(*) as n from people where age > :age group by ward order by 1"), {"age": 25}).fetchall()
        assert [row.ward for row in rows] == ["ER", "ICU", "MAT", "NONE"]
        frame = pandas.read_sql(sqlalchemy.text("select ward, count(*) as n, avg(age) as age from people group by ward order by 1"), made)
        assert list(frame.columns) == ["ward", "n", "age"] and str(frame["n"].dtype) == "int64" and len(frame) == 4
    inspector = sqlalchemy.inspect(engine)
    assert {"people", "wards"} <= set(inspector.get_table_names())
    names = [c["name"] for c in inspector.get_columns("people")]
    assert "age" in names and "secret" not in names
    people = sqlalchemy.Table("wards", sqlalchemy.MetaData(), autoload_with=engine)
    with engine.connect() as made:
        assert len(made.execute(sqlalchemy.select(people.c.ward).where(people.c.beds > 10)).fetchall()) == 2
    engine.dispose()
