# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Reads a page: its elements are closed, it loads nothing, its pictures are XML, and the
# bars of each chart of shares add up to the whole. `without-shares` says that it has none.

import html.parser
import re
import sys
import xml.etree.ElementTree

VOID = {"meta"}


class Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()
        self.linked, self.ids = set(), set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.check(tag, attributes)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)
        self.check(tag, attributes)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())

    def check(self, tag, attributes):
        for name, value in attributes:
            assert name not in ("src", "onclick"), (tag, name)
            assert name != "href" or value.startswith("#"), (tag, value)
            if name == "href":
                self.linked.add(value[1:])
            if name == "id":
                self.ids.add(value)
            assert "url(" not in (value or ""), value


page = sys.stdin.read()
checker = Checker()
checker.feed(page)
assert not checker.open, checker.open
assert checker.linked == (checker.ids if len(checker.ids) > 1 else set())
assert {"section", "svg"} <= checker.seen and "script" not in checker.seen
assert "http" not in page and "@import" not in page

charts = 0
for picture in re.findall("<svg.*?</svg>", page, re.DOTALL):
    root = xml.etree.ElementTree.fromstring(picture)
    if root.get("aria-label") != "Share of each block":
        continue
    charts += 1
    widths = [child.get("width") for child in root.iter("rect")]
    total = sum(float(width[:-1]) for width in widths if width.endswith("%"))
    assert abs(total - 100) < 0.3, total
assert bool(charts) == (sys.argv[1:] != ["without-shares"])
