#!/usr/bin/env python3
"""Opens pages in a headless Chromium and says what is wrong with them, a line each.

usage: check.py [--large PAGE --opens-within SECONDS] [--hostile PAGE] [--screenshots FOLDER] PAGE...

Each page is opened at four widths, in light and dark. It must not ask for anything but itself, log no error, open no
dialog, run no script but its own, be no wider than the window, and have no serious findings of axe-core. Filters and
keys are tried on the first page. A large page must open in time, and one that is made of what attackers write is not
looked at with axe-core. The exit status is 1 where something was found.
"""

import argparse
import pathlib
import sys

import axe_playwright_python
from playwright.sync_api import sync_playwright

WIDTHS = (360, 400, 800, 1400)
SCHEMES = ("light", "dark")
AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()

findings = []


def report(where, what):
    findings.append(f"{where}: {what}")


def watch(page, where):
    """Reports whatever a page does that it must not do."""
    page.on("console", lambda m: m.type in ("error", "warning") and report(where, f"console: {m.text}"))
    page.on("pageerror", lambda error: report(where, f"script: {error}"))

    def dialog(dialog):
        report(where, f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("dialog", dialog)
    page.on("request", lambda r: r.url != page.intended and report(where, f"request: {r.url[:200]}"))
    page.on("popup", lambda popup: report(where, "popup"))


def open_page(page, path):
    page.intended = pathlib.Path(path).resolve().as_uri()
    page.goto(page.intended, wait_until="load")


def check_canary(page, where):
    """Nothing of what a journal holds may have become a script or an element of another kind than ours."""
    if page.evaluate("typeof window.__pwned") != "undefined":
        report(where, "a foreign script ran")
    known = page.evaluate(
        """() => Array.from(document.querySelectorAll(
            'img,iframe,object,embed,video,audio,source,base,link,frame,applet,math,foreignObject,animate,set,use,'
            + '[style],[onerror],[onload],[onclick],[onfocus],[onmouseover],[srcdoc],[autofocus],[action],[formaction]'))
          .map(element => element.outerHTML.slice(0, 120))"""
    )
    for element in known[:5]:
        report(where, f"foreign element: {element}")
    if page.locator("script").count() != 1 or page.locator("style").count() != 1:
        report(where, "more than one script or style")


def check_axe(page, where):
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    for violation in found["violations"]:
        if violation["impact"] in ("serious", "critical"):
            nodes = "; ".join(" ".join(node["target"])[:80] for node in violation["nodes"][:3])
            report(where, f"axe {violation['id']}: {violation['help']}: {nodes}")


def check_layout(page, where):
    excess = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if excess > 0:
        widest = page.evaluate(
            """() => Array.from(document.body.querySelectorAll('*'))
              .filter(e => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1)
              .map(e => `${e.tagName} ${e.getAttribute('class')} ${e.textContent.slice(0, 40)}`).slice(0, 3)"""
        )
        report(where, f"the page is {excess} px wider than the window: {widest}")


def check_keys(page, where):
    """`/` goes to the filter, which leaves what fits; `j` and `k` go from failure to failure."""
    shown = "() => Array.from(document.querySelectorAll('.item')).filter(e => !e.hidden).length"
    total = page.evaluate(shown)
    if total < 2:
        return
    page.keyboard.press("/")
    if page.evaluate("document.activeElement.id") != "filter-text":
        report(where, "/ does not lead to the filter")
    page.keyboard.type("zzzzqqqq")
    if page.evaluate(shown) != 0:
        report(where, "the filter leaves what does not fit")
    page.keyboard.press("Escape")
    page.wait_for_timeout(50)
    if page.evaluate(shown) != total:
        report(where, "Escape does not clear the filter")
    page.select_option("#filter-outcome", index=1)
    if not 0 < page.evaluate(shown) < total:
        report(where, "the filter by outcome does not work")
    page.click("button[type=reset]")
    page.wait_for_timeout(50)
    cases = page.locator("article.case").count()
    page.evaluate("document.activeElement.blur()")
    places = []
    for key in "jjk":
        page.keyboard.press(key)
        places.append(page.evaluate("document.activeElement.closest('article')?.id ?? ''"))
    expected = ["case-1", "case-2", "case-1"] if cases > 1 else ["case-1"] * 3
    if cases and places != expected:
        report(where, f"j and k lead to {places}")


def check_without_script(browser, path, name):
    where = f"{pathlib.Path(path).name} without script"
    page = browser.new_page(java_script_enabled=False)
    page.intended = None
    page.goto(pathlib.Path(path).resolve().as_uri())
    if not page.locator("h1").is_visible() or page.locator("#filters").is_visible():
        report(where, "the page is not what it should be")
    page.close()


def check_time(browser, path, limit):
    """The best of three, in processor time of the page's thread: the machine may have other things to do."""
    times = []
    for _ in range(3):
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(pathlib.Path(path).resolve().as_uri(), wait_until="load")
        metrics = session.send("Performance.getMetrics")["metrics"]
        times.append(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))
        page.close()
    print(f"opening the large page took {min(times):.3f} s of processor time")
    if min(times) > limit:
        report("large", f"takes {min(times):.3f} s of processor time to open")


def check_page(browser, path, name, screenshots=None, with_axe=True, with_keys=False):
    for scheme in SCHEMES:
        context = browser.new_context(color_scheme=scheme, offline=True)
        page = context.new_page()
        watch(page, f"{name} {scheme}")
        open_page(page, path)
        check_canary(page, f"{name} {scheme}")
        for width in WIDTHS:
            where = f"{name} {scheme} {width}"
            page.set_viewport_size({"width": width, "height": 900})
            check_layout(page, where)
            # Colours do not depend on the width, nor sizes on the scheme.
            if with_axe and (scheme == "light" or width == 1400):
                check_axe(page, where)
            if screenshots:
                page.screenshot(path=f"{screenshots}/{name}-{scheme}-{width}.png")
        if with_keys and scheme == "light":
            check_keys(page, name)
        context.close()
    check_without_script(browser, path, name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", metavar="PAGE")
    parser.add_argument("--opens-within", type=float, default=1, metavar="SECONDS")
    parser.add_argument("--hostile", metavar="PAGE")
    parser.add_argument("--screenshots", metavar="FOLDER")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        # The pages are our own files; a sandbox needs what containers do not give.
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        if arguments.large:
            check_time(browser, arguments.large, arguments.opens_within)
        for number, path in enumerate(arguments.pages):
            name = f"page-{number + 1}"
            check_page(browser, path, name, arguments.screenshots, with_keys=number == 0)
        if arguments.hostile:
            check_page(browser, arguments.hostile, "hostile", with_axe=False)
        browser.close()
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
