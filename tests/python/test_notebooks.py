"""What objects show of themselves: tables with error bars, gauges, plans, plots; and that released text cannot inject markup."""
import xml.etree.ElementTree

import matplotlib
import pytest

matplotlib.use("Agg")

import discreet
from discreet import accounting as acc
from discreet import local
from discreet.curator import Answer, Budget, Cells, Column, Cost


def well_formed(html):
    """Every piece of markup closes: parsed as XML after the style sheet."""
    return xml.etree.ElementTree.fromstring("<div>" + html.split("</style>")[1] + "</div>")


def answer(columns, texts, errors, *rest):
    return Answer(columns, Cells(columns, texts, errors), *rest)


def made(value="ICU"):
    return answer([Column("ward", "text", False, None), Column("n", "bigint", True, 3.0)], [[value, None], ["12", None]], [[None, None], [3.0, None]],
                  Cost(0.5, 0.0, 0.1), ["a note"], False, Budget("default", 2.0, 0.5, 1.5, 0.0, 0.0, 0.0, 1, 1.5))


def test_an_answer_shows_values_errors_price_and_what_is_left():
    html = made()._repr_html_()
    well_formed(html)
    for piece in ("ICU", "12", "±3", "<circle", "cost: epsilon 0.5", "left to default: epsilon 1.5", "a note"):
        assert piece in html
    text = repr(made())
    assert "ICU" in text and "NULL" in text and "cost: epsilon 0.5" in text


def test_keys_of_the_data_cannot_inject_markup():
    evil = "<script>alert(1)</script>"
    assert evil not in made(evil)._repr_html_() and "&lt;script&gt;" in made(evil)._repr_html_()


def test_budgets_show_gauges_and_no_limit_is_told():
    html = Budget("alice", 1.0, 0.9, 0.1, None, 0.0, None, 3, 0.1)._repr_html_()
    well_formed(html)
    assert "<rect" in html and "0.9 of 1 spent" in html
    assert "no limit" in Budget("free", None, 3.0, None, None, 0.0, None, 1, None)._repr_html_()


def test_long_answers_are_cut_and_say_so():
    long = answer([Column("k", "bigint", False, None)], [[str(i) for i in range(100)]], [[None] * 100], Cost(0, 0, 0), [], False)
    assert "40 more rows" in long._repr_html_() and "40 more rows" in repr(long)


def test_explanations_and_findings_show_themselves(hospital):
    told = discreet.open(hospital).explain("select ward, count(*) as n from patients group by ward", epsilon=0.5)
    well_formed(told._repr_html_())
    assert "scan patients" in told._repr_html_() and "<rect" in told._repr_html_()
    well_formed(acc.compose([acc.gaussian(2.0)])._repr_html_())
    survey = local.Collection(epsilon=1.0, labels=["a", "b"])
    well_formed(survey.estimate(survey.randomize(["a", "b"] * 50))._repr_html_())


def test_plots_are_drawn_where_asked():
    axes = answer(
        [Column("ward", "text", False, None), Column("n", "bigint", True, 3.0)], [["A", "B"], ["12", "40"]], [[None, None], [3.0, 3.0]], Cost(0, 0), [], False).plot()
    assert len(axes.patches) == 2 and axes.get_ylabel() == "n"
    assert acc.compose([acc.gaussian(2.0)]).plot(delta=1e-5).get_yscale() == "log"
    survey = local.Collection(epsilon=1.0, labels=["a", "b"])
    assert len(survey.estimate(survey.randomize(["a"] * 10)).plot().patches) == 2
    with pytest.raises(discreet.InvalidParameter):
        answer([Column("k", "text", False, None)], [["x"]], [[None]], Cost(0, 0), [], False).plot()


def test_progress_is_told_to_a_function_and_drawn_on_a_terminal(capsys):
    from discreet import _progress

    told = []
    with _progress.reporter(lambda stage, done: told.append(done)) as progress:
        assert progress("fit", 0.5) is True
    assert told == [0.5]
    with _progress.reporter(False) as progress:
        assert progress is None
    line = _progress._Line()
    line.began -= 5
    assert line("fit", 0.5) and "fit:  50 %" in capsys.readouterr().err
