#!/usr/bin/env python3
"""Joins figures of several tools, one JSON object a line, into a table.

usage: table.py < FIGURES
"""

import json
import sys

TOOLS = [("Hypothesis", "hypothesis"), ("PropEr", "proper"), ("AALpy", "aalpy"), ("Lockstep", "fuzz")]


def number(value):
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


class Figures:
    def __init__(self, lines):
        self.all = {figure["name"]: figure for figure in map(json.loads, lines)}

    def value(self, tool, what):
        figure = self.all.get(f"{tool}.{what}")
        return None if figure is None else number(figure["value"])

    def of(self, tool, what, usual=None):
        """`3 of 5`."""
        figure = self.all.get(f"{tool}.{what}")
        if figure is None:
            return None
        count = figure.get("of", usual)
        return number(figure["value"]) + (f" of {count}" if count else "")

    def pair(self, tool, first, second, form):
        values = self.value(tool, first), self.value(tool, second)
        return form.format(*values) if None not in values else None

    def events(self, tool):
        bare = self.all.get("reference.events") if tool == "fuzz" else None
        whole = self.value(tool, "events")
        if bare is None:
            return whole
        return f"{number(bare['value'])} bare" + (f", {whole}" if whole else "")

    def alarms(self, tool, noise):
        if tool == "fuzz":
            return self.value(tool, f"{noise}.false-alarms")
        count = self.of(tool, f"{noise}.alarms")
        return count and f"{count} runs without a verdict"

    def rows(self):
        yield "events a second", self.events
        for bug, length in (("bug1", 16), ("bug2", 28)):
            yield f"{bug}: found", lambda tool, bug=bug: self.of(tool, f"{bug}.found", 20)
            yield (f"{bug}: median events to find (worst)",
                   lambda tool, bug=bug: self.pair(tool, f"{bug}.find", f"{bug}.find-worst", "{} ({})"))
            yield f"{bug}: shrunk to {length}", lambda tool, bug=bug: self.of(tool, f"{bug}.minimum", 20)
            yield (f"{bug}: runs / events to shrink",
                   lambda tool, bug=bug: self.pair(tool, f"{bug}.shrink-runs", f"{bug}.shrink-events", "{} / {}"))
        yield "false alarms at 1 % loss", lambda tool: self.alarms(tool, "noise1")
        yield "false alarms at 5 % loss", lambda tool: self.alarms(tool, "noise5")
        yield "events to visit every cell", lambda tool: self.value(tool, "cells")


def main():
    figures = Figures(line for line in sys.stdin if line.startswith("{"))
    table = [["what", *(name for name, _ in TOOLS)]]
    table += [[what, *(cell(tool) or "-" for _, tool in TOOLS)] for what, cell in figures.rows()]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    table.insert(1, ["-" * width for width in widths])
    for row in table:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")


main()
