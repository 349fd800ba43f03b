"""A bookmark that saves the results of the page one sees: a script that the person runs herself, page by page.

Nothing is automated, and no extra is needed. The page that is written here holds the bookmark and the script in full,
to be read first; it loads nothing. The script reads the page with the selectors of the site, asks which list it is, and
hands a file of rows to the browser's downloads. It sends nothing.
"""

from __future__ import annotations

import json
from html import escape
from urllib.parse import quote

from aidos.rooms.audit.collect.site import GAP, Limits, Site, script

__all__ = ["bookmarklet", "bookmarklet_page"]

SAVE = """(() => {
  const read = READ;
  const site = SITE;
  const seen = read(site);
  if (seen.wrong) { alert("The selector " + seen.wrong + " is no CSS selector."); return; }
  if (!seen.rows.length) { alert("No result was found on this page."); return; }
  const [before, after] = site.address;
  let query = "";
  if (location.href.startsWith(before)) {
    const rest = location.href.slice(before.length);
    const end = after ? rest.indexOf(after[0]) : rest.search(/[&#]/);
    try { query = decodeURIComponent((end < 0 ? rest : rest.slice(0, end)).replace(/\\+/g, " ")); } catch (error) { }
  }
  query = prompt("What was searched for?", query);
  if (!query) { return; }
  const list = prompt(seen.rows.length + " results. Which list: vanilla, personalised or again?", "vanilla");
  if (!["vanilla", "personalised", "again"].includes(list)) { return; }
  const when = new Date().toISOString().slice(0, 19) + "Z";
  const rows = seen.rows.map((row, at) => ({ query, list, position: at + 1, ...row, when }));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(rows)], { type: "application/json" }));
  link.download = "lists-" + when.replace(/\\D/g, "") + "-" + list + ".json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
})()"""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>A bookmark that saves results | aidos</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 17px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }}
pre {{ overflow: auto; border: 1px solid; padding: 1rem; font-size: 13px; }}
a.bookmark {{ display: inline-block; border: 2px solid; padding: .3rem .8rem; }}
</style>
</head>
<body>
<main>
<h1>A bookmark that saves results</h1>
<p>Drag this to the bar of bookmarks: <a class="bookmark" href="{link}">Save results</a></p>
<ol>
<li>Search on <strong>{host}</strong>, and press the bookmark on the page of results.</li>
<li>Say what was searched for, and which list it is: <code>vanilla</code> without the account, in a private window;
<code>personalised</code> with it; <code>again</code> a second time without it.</li>
<li>The results go into a file among the downloads. Put these files into one directory, and look into it with
<code>aidos audit check DIRECTORY</code>.</li>
</ol>
<p>The script sends nothing and changes nothing. This is all of it:</p>
<pre tabindex="0">{text}</pre>
</main>
</body>
</html>
"""


def bookmarklet(site: Site) -> str:
    """The script of the bookmark."""
    limits = Limits()
    told = {
        "selectors": site.selectors(),
        "most": limits.results,
        "longest": limits.letters,
        "address": site.address.split(GAP),
    }
    return SAVE.replace("READ", script(), 1).replace("SITE", json.dumps(told), 1)


def bookmarklet_page(site: Site) -> str:
    """The page that holds it."""
    text = bookmarklet(site)
    return PAGE.format(link="javascript:" + quote(text, safe="~()*!.'"), host=escape(site.host), text=escape(text))
