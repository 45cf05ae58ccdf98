#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs all experiments and writes index.html: title, sentence, pictures, tables, log and command of each.

The page needs no other file: pictures and logs are part of it.
"""

import argparse
import csv
import html
import json
import pathlib
import re
import sys

from experiment import FILE_ERROR, TARGETS, execute, naming, run_program, write_whole

HERE = pathlib.Path(__file__).resolve().parent
EXPERIMENTS = ["gemm_or_matmul_add", "layer_norm_exchange", "parallel_reduction", "dynamic_broadcast",
               "llama_pipelines"]
STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 68em; margin: 2em auto; padding: 0 1em; color: #222; }
h2 { margin-top: 2.5em; border-top: 1px solid #ddd; padding-top: 1em; }
.cards { display: flex; flex-wrap: wrap; gap: 1em; }
.card { width: 18em; border: 1px solid #ddd; border-radius: 6px; padding: 0.8em; text-decoration: none; color: inherit; }
.card svg { width: 100%; height: 9em; }
.card b { color: #1a5490; }
.figures { margin-bottom: 1.2em; display: grid; grid-template-columns: repeat(auto-fill, minmax(28em, 1fr)); gap: 1.2em; }
figure { margin: 0; } figure svg { max-width: 100%; height: auto; border: 1px solid #eee; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2em 1em; font-size: 0.9em; }
dt { font-weight: bold; } dd { margin: 0; }
figcaption, .small { color: #555; font-size: 0.9em; }
pre { background: #f6f6f6; padding: 0.8em; overflow-x: auto; font-size: 0.85em; }
table { border-collapse: collapse; font-size: 0.85em; } td, th { padding: 0.15em 0.7em; border-bottom: 1px solid #eee; }
th { text-align: left; background: #f6f6f6; } .scroll { overflow-x: auto; } .failed { color: #b00; }
"""


def picture(folder, file):
    """The SVG as part of the page; it keeps its own size as viewBox."""
    return (folder / file).read_text(encoding="utf-8").strip()


def thumbnail(svg):
    return re.sub(r' (width|height)="\d+(\.\d+)?(px)?"', "", svg, count=2)


def number(text):
    """A cell for readers: six digits; what is no number stays."""
    try:
        return f"{float(text):.6g}" if "." in text or "e" in text else text
    except ValueError:
        return text


def table(folder, file):
    with open(folder / file, newline="", encoding="utf-8") as lines:
        header, *rows = list(csv.reader(lines))
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(number(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def definitions(terms):
    rows = "".join(f"<dt>{html.escape(term)}</dt><dd>{html.escape(meaning)}</dd>" for term, meaning in terms.items())
    return f"<dl>{rows}</dl>" if rows else ""


def section(folder, summary):
    figures = "".join(f"<figure>{picture(folder, p['file'])}<figcaption>{html.escape(p['caption'])}</figcaption></figure>"
                      for p in summary["pictures"])
    tables = "".join(f"<details><summary>{html.escape(t['title'])}</summary>{table(folder, t['file'])}</details>"
                     for t in summary["tables"])
    pages = "".join(f'<li><a href="{folder.name}/{page.name}">{page.name}</a></li>' for page in
                    sorted(folder.glob("*.html")))
    pages = f"<p>Pages in the folder beside this one:</p><ul>{pages}</ul>" if pages else ""
    return f"""\
<h2 id="{summary['name']}">{html.escape(summary['title'])}</h2>
<p>{html.escape(summary['sentence'])}</p>
<p class="small">{summary['seconds']:.1f} s, target {summary['target']}, {summary['size']} size. To repeat it:</p>
<pre>{html.escape(summary['command'])}</pre>
{definitions(summary["terms"])}<div class="figures">{figures}</div>{tables}{pages}
<details><summary>Log</summary><pre>{html.escape((folder / 'log.txt').read_text('utf-8'))}</pre></details>
"""


def card(folder, summary):
    image = thumbnail(picture(folder, summary["pictures"][0]["file"]))
    return (f'<a class="card" href="#{summary["name"]}">{image}<br><b>{html.escape(summary["title"])}</b><br>'
            f'<span class="small">{html.escape(summary["sentence"])}</span></a>')


def page(shown, failed):
    cards = "".join(card(*one) for one in shown)
    problems = "".join(f'<p class="failed">{html.escape(name)} failed: {html.escape(text)}</p>' for name, text in failed)
    return f"""\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Adjoint: experiments with numerics</title><style>{STYLE}</style></head>
<body>
<h1>Experiments with numerics</h1>
<p>Each experiment compiles programs with Adjoint, runs them, and compares their results. Published figures of
onnxruntime and PyTorch are in the logs. Differences are absolute unless a column says otherwise; l2 is the norm of a
difference, divided by the norm of the result.</p>
{problems}<div class="cards">{cards}</div>
{"".join(section(*one) for one in shown)}
</body></html>
"""


def say(text):
    with naming("standard output"):
        print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--target", choices=TARGETS, default="cpu")
    parser.add_argument("--only", choices=EXPERIMENTS, action="append", help="may be given more than once")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    shown, failed, code = [], [], 0
    for name in options.only or EXPERIMENTS:
        folder = options.out / name.replace("_", "-")
        command = [sys.executable, HERE / f"{name}.py", "--out", folder, "--target", options.target]
        result = execute([*command, *["--quick"] * options.quick], has_commands=True)
        if result.returncode:
            failed.append((name, result.stderr.strip()))
            code = max(code, FILE_ERROR if result.returncode == FILE_ERROR else 1)
            say(f"{name}: failed\n{result.stderr}")
            continue
        shown.append((folder, json.loads((folder / "results.json").read_text("utf-8"))))
        say(f"{name}: {shown[-1][1]['seconds']:.1f} s")
    write_whole(options.out / "index.html", page(shown, failed))
    say(f"gallery: {len(shown)} experiments, {len(failed)} failed; {options.out / 'index.html'}")
    return code


if __name__ == "__main__":
    run_program(main)
