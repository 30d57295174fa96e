# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""An editor without a window: it talks to netc-lsp as editors do."""

import json
import subprocess
import sys


def span(line, begin, end):
    return {"start": {"line": line, "character": begin}, "end": {"line": line, "character": end}}


def places_of(locations):
    """The ranges by URI."""
    return {uri: [each["range"] for each in locations if each["uri"] == uri] for uri in sorted({each["uri"] for each in locations})}


def check(found, expected):
    if found != expected:
        sys.exit(f"{found}\nand not\n{expected}")


class Editor:
    def __init__(self, capabilities={}, options=[]):
        self.server = subprocess.Popen(["netc-lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ids = 0
        self.problems = {}  # by URI and version
        self.requests = []  # of the server: their methods
        self.capabilities = self.ask("initialize", processId=None, rootUri=None, capabilities=capabilities)["capabilities"]
        self.tell("initialized")

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def receive(self):
        size = 0
        while (line := self.server.stdout.readline().strip()) or not size:
            if not line:
                raise EOFError(f"netc-lsp ended, with status {self.server.wait()}")
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return json.loads(self.server.stdout.read(size))

    def read(self):
        message = self.receive()
        if "method" in message and "id" in message:
            self.requests.append(message["method"])
            self.send({"id": message["id"], "result": None})
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.problems[params["uri"], params.get("version")] = params["diagnostics"]
        return message

    def tell(self, method, **params):
        self.send({"method": method, "params": params})

    def ask(self, method, **params):
        """The result, or the error as a text."""
        self.ids += 1
        self.send({"id": self.ids, "method": method, "params": params})
        while "method" in (message := self.read()) or message["id"] != self.ids:
            pass
        return message["error"]["message"] if "error" in message else message["result"]

    def open(self, uri, text):
        item = {"uri": uri, "languageId": "net", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=item)

    def change(self, uri, version, text, span=None):
        """Replaces the text, or a part of it."""
        edit = {"text": text, **({"range": span} if span else {})}
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[edit])

    def close_file(self, uri):
        self.tell("textDocument/didClose", textDocument={"uri": uri})

    def problems_of(self, uri, version):
        """What is wrong with a version of a text, when that has been found out."""
        while (uri, version) not in self.problems:
            self.read()
        return self.problems[uri, version]

    def next_problems_of(self, uri):
        """The same of the text as it is, when it is checked once more."""
        while True:
            message = self.read()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                return message["params"]["diagnostics"]

    def at(self, method, uri, line, character, **more):
        position = {"line": line, "character": character}
        return self.ask("textDocument/" + method, textDocument={"uri": uri}, position=position, **more)

    def of(self, method, uri, **more):
        return self.ask("textDocument/" + method, textDocument={"uri": uri}, **more)

    def quit(self):
        self.ask("shutdown")
        self.tell("exit")
        return self.server.wait()
