from benchmarks.web_load import report, steps


def test_the_page_of_results_says_whether_the_mark_is_kept():
    quick = {"start page": [0.01, 0.02, 0.03], "checking tables": [0.5]}
    text = report(quick, 20, (2, 1), 3.2)
    assert "| start page | 3 | 20 | 30 | 30 |" in text
    assert "median 25 ms" in text
    assert "kept" in text
    assert "2 of 2 at the beginning, 1 of 2 at the end" in text
    assert "missed" in report({"start page": [0.5]}, 20, (2, 2), 0.0)


def test_people_do_everything():
    done = {step.what for step in steps("/s/a", ["/s/b", "/s/c"])}
    assert {"start page", "columns", "check", "fit", "progress", "answer", "take home", "report"} < done
