#!/usr/bin/env python3
"""Reads reports with the parsers of those who show them, and prints what each sees, as JSON.

usage: reports.py CI.xml SUREFIRE.xml ALLURE-FOLDER

Of each reader: a list of cases, `class name outcome` with what else it knows (file, line), and the seconds that it adds up to. Where
a reader calls two outcomes by one name, so does its list.
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import allure_commons.model2
import junit2htmlreport.parser
import junitparser
import xunitparser

ci, surefire, allure = sys.argv[1:]


def of_junitparser():
    report = junitparser.JUnitXml.fromfile(ci)
    cases, seconds, counts = [], 0, [0, 0, 0, 0]
    for suite in report:
        seen = [len(list(suite)), 0, 0, 0]
        for case in suite:
            results = [r for r in case.result if type(r) in (junitparser.Failure, junitparser.Error, junitparser.Skipped)]
            kind = type(results[0]).__name__.lower() if results else "passed"
            seen[1:] = [n + (kind == k) for n, k in zip(seen[1:], ("failure", "error", "skipped"))]
            place = "%s:%s" % (case._elem.get("file", ""), case._elem.get("line", ""))
            cases.append(f"{case.classname} {case.name} {kind} {place}")
            seconds += case.time
        told = [suite.tests, suite.failures, suite.errors, suite.skipped]
        assert seen == told, f"{suite.name} counts {told} and has {seen}"
        counts = [a + b for a, b in zip(counts, told)]
    told = [report.tests, report.failures, report.errors, report.skipped]
    assert counts == told, f"the report counts {told} and its suites {counts}"
    assert abs(report.time - seconds) < 0.0005, f"the report says {report.time} and its cases {seconds}"
    return cases, seconds


def of_junit2html():
    report = junit2htmlreport.parser.Junit(ci)
    cases, seconds = [], 0
    for suite in report.suites:
        for case in suite.all():
            cases.append(f"{case.testclass.name} {case.name} {case.outcome().name.lower()}")
            seconds += case.duration
    # It makes a page of it.
    assert all(case.name in report.html() for suite in report.suites for case in suite.all())
    return cases, seconds


def of_xunitparser():
    suite, result = xunitparser.parse(open(surefire, encoding="utf-8"))
    kinds = {"success": "passed", "failure": "failure", "error": "error", "skipped": "skipped"}
    cases = [f"{case.classname} {case.methodname} {kinds[case.result]}" for case in suite]
    assert result.testsRun == len(cases)
    return cases, sum(case.time.total_seconds() for case in suite)


def of_flakemap():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ci, folder + "/1.xml")
        tool = os.path.join(os.path.dirname(sys.executable), "flakemap")
        told = json.loads(subprocess.run([tool, "--json", folder], check=True, capture_output=True).stdout)
    cases = []
    for test in told["tests"]:
        kind = next(k for k in ("pass", "fail", "skip", "unknown") if test["runs"][k])
        cases.append(test["test"] + " " + kind + (" recovered" if test["retries"]["recovered_runs"] else ""))
    return cases, None


def of_allure():
    cases, seconds, last = [], 0, {}
    model = allure_commons.model2
    for path in glob.glob(allure + "/*-result.json"):
        told = json.load(open(path, encoding="utf-8"))
        # A key that the classes of Allure do not have is a mistake of ours.
        result = model.TestResult(**{key: value for key, value in told.items() if value is not None})
        result.statusDetails = model.StatusDetails(**(result.statusDetails or {}))
        result.labels = [model.Label(**label) for label in result.labels]
        result.parameters = [model.Parameter(**parameter) for parameter in result.parameters]
        result.attachments = [model.Attachment(**file) for file in result.attachments]
        assert os.path.basename(path) == result.uuid + "-result.json"
        assert result.status in vars(model.Status).values() or result.status == "unknown", result.status
        for file in result.attachments:
            assert os.path.isfile(f"{allure}/{file.source}"), file
        if result.start is not None:
            seconds += (result.stop - result.start) / 1000
        # The tries of a case have one historyId, and the last one counts.
        if result.historyId not in last or last[result.historyId].start <= result.start:
            last[result.historyId] = result
    for result in last.values():
        flaky = " flaky" if result.statusDetails.flaky else ""
        files = sorted(os.path.splitext(file.name)[1] for file in result.attachments)
        cases.append(" ".join([result.fullName, result.status + flaky] + files))
    return cases, seconds


answers = {}
for name, reader in list(globals().items()):
    if name.startswith("of_"):
        cases, seconds = reader()
        answers[name[3:]] = {"cases": sorted(cases), "seconds": seconds}
json.dump(answers, sys.stdout, indent=1, ensure_ascii=False)
