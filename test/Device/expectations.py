# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Holds what was measured against what was expected (expectations.json)."""

import re


def ratio(row, peer):
    """How fast ours is compared with the peer, or None."""
    seconds = row["seconds"]
    return seconds[peer] / seconds["ours"] if peer in seconds and seconds.get("ours") else None


def reference_of(row, peer, found):
    """The row with the peer's time added from another form of the same case, if its own has none."""
    if peer in row["seconds"]:
        return row
    base = row["case"].split(" by ")[0]
    time = next((other["seconds"][peer] for other in found if other["case"].split(" by ")[0] == base and peer
                 in other["seconds"]), None)
    return {**row, "seconds": {**row["seconds"], peer: time}} if time else row


def judge_speeds(expected, found):
    """(what, expected, measured, verdict, why) of each."""
    for each in expected:
        row = next((row for row in found if row["kind"] == each["kind"] and row["case"] == each["case"]), None)
        share = row and ratio(reference_of(row, each["peer"], found), each["peer"])
        verdict = "not measured"
        if share:
            verdict = "refuted: slower" if share < each["low"] else "refuted: faster"
            verdict = "confirmed" if each["low"] <= share <= each["high"] else verdict
        yield (f"{each['case']} and {each['peer']}", f"{each['low']:g} to {each['high']:g}",
               f"{share:.2f}" if share else "", verdict, each["why"])


def judge_cases(expected, found):
    for each in expected:
        status = [row["status"] for row in found if re.search(each["pattern"], row["name"])]
        ran = [one for one in status if one != "skipped"]
        wrong = len(ran) - ran.count("passed")
        confirmed = "confirmed" if len(ran) == len(status) else "confirmed as far as it ran"
        verdict = "not measured" if not ran else "refuted" if wrong else confirmed
        passed = f"{ran.count('passed')} of {len(status)} passed" if status else ""
        yield each["what"], "all pass", passed, verdict, each["why"]
