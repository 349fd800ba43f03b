"""A small search service on this machine, for tests of collecting: it knows an account by its cookie, and has moods."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGES = ("alpha", "beta", "gamma", "delta", "omega")
SELECTORS = 'results = ".result"\ntitle = "h3"\nsnippet = "p"\nleave_out = ".ad"\n'


class Handler(BaseHTTPRequestHandler):
    """Answers; what the server's ``moods`` say of a query comes first."""

    def do_GET(self):
        server, parts = self.server, urlsplit(self.path)
        query = parse_qs(parts.query).get("q", [""])[0]
        account = "who=me" in (self.headers.get("Cookie") or "")
        if parts.path == "/favicon.ico":
            self.say(404, "")
            return
        server.asked.append((parts.path, query, account))
        if parts.path == "/robots.txt":
            self.say(*server.robots, kind="text/plain")
        elif parts.path == "/":
            self.say(200, "Welcome: whoever comes here is signed in", cookie="who=me; Max-Age=9999")
        elif (mood := server.moods.get(query)) is not None:
            mood(self)
        else:
            self.say(200, results(query, account=account))

    def say(self, status, text, kind="text/html; charset=utf-8", cookie="", to=""):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if cookie:
            self.send_header("Set-Cookie", cookie)
        if to:
            self.send_header("Location", to)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        """Silence."""


def results(query, *, account):
    """A page of results; the account's has the last first."""
    order = PAGES[-1:] + PAGES[:-1] if account else PAGES
    shown = "".join(
        f'<div class="result"><a href="/go/{name}?from={query}"><h3>{name.title()}\n of it</h3></a>'
        f"<p>About {name}</p></div>"
        for name in order
    )
    who = '<b class="me">Me</b>' if account else ""
    ad = '<div class="ad"><div class="result"><a href="/ad">Buy</a></div></div>'
    return f"<!doctype html><html><body>{who}{ad}{shown}</body></html>"


@contextmanager
def served():
    """A running service: its ``address``, what was ``asked``, its ``robots`` and ``moods``."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.asked, server.moods, server.robots = [], {}, (404, "")
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
