// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Uses the extension in the folder of the first argument, with netc-lsp of PATH, in the second.

"use strict";

const assert = require("assert").strict;
const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const vscode = require("./vscode");

const Module = require("module");
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const [extensionPath, folder] = process.argv.slice(2).map((name) => path.resolve(name));
const extension = require(extensionPath);
const { LanguageServer, MessageReader } = require(path.join(extensionPath, "server"));
const { editor, Position, Range } = vscode;
const at = (line, character) => new Position(line, character);
const span = (line, begin, end) => new Range(at(line, begin), at(line, end));
// Of classes of the editor, what they hold.
const plain = (value) => JSON.parse(JSON.stringify(value));
const same = (found, expected) => assert.deepEqual(plain(found), plain(expected));

function readMessages() {
  const message = (text) => `Content-Length: ${Buffer.byteLength(text)}\r\nContent-Type: x\r\n\r\n${text}`;
  const bytes = Buffer.from(message('{"a":"𝕏ü"}') + message('{"b":2}') + message('{"c":3}'));
  for (const size of [1, 7, bytes.length]) {
    const read = [];
    const reader = new MessageReader((each) => read.push(each));
    for (let i = 0; i < bytes.length; i += size) reader.read(bytes.subarray(i, i + size));
    same(read, [{ a: "𝕏ü" }, { b: 2 }, { c: 3 }]);
  }
}

async function talkToTheServer() {
  const told = [];
  const ended = [];
  const server = new LanguageServer("netc-lsp", [], {
    notified: (method, params) => told.push([method, params]),
    logged: () => {},
    ended: (why) => ended.push(why),
  });
  const uri = pathToFileURL(path.join(folder, "told.net")).href;
  // Nothing waits for the server to be ready.
  server.open(uri, 1, "width = 4\n");
  server.change(uri, 2, [{ range: span(0, 0, 5), text: "depth" }]);
  const [symbol] = await server.of("documentSymbol", uri);
  assert.equal(symbol.name, "depth");
  await assert.rejects(server.request("textDocument/nothing", {}), /method not found/);
  server.close(uri);
  assert.equal(await server.stop(), 0);
  same(ended, []);
  assert.deepEqual(told.at(-1), ["textDocument/publishDiagnostics", { uri, diagnostics: [] }]);
  await assert.rejects(server.of("documentSymbol", uri), /does not run/);
}

async function edit() {
  const uri = pathToFileURL(path.join(folder, "small.net")).href;
  const document = editor.open(uri, "width = 4\n# Small.\nnet Small(x: f32[N, 3]) {\n  return y=x |> Linear(widht)\n}\n");
  let [problem] = await editor.problemsOf(uri, "unknown name `widht`; did you mean `width`?");
  same(problem, {
    range: span(3, 23, 28),
    message: "unknown name `widht`; did you mean `width`?",
    severity: 0,
    source: "netc",
    code: "unknown-name",
    relatedInformation: [],
  });

  const { providers } = editor;
  const [fix] = await providers.fixes.provideCodeActions(document, span(3, 25, 25), { diagnostics: [problem] });
  same(fix, {
    title: "replace by `width`",
    kind: "quickfix",
    diagnostics: [problem],
    edit: { edits: { [uri]: [{ range: span(3, 23, 28), newText: "width" }] } },
  });
  const refreshed = [];
  const isRefreshed = new Promise((resolve) => {
    providers.hints.onDidChangeInlayHints(() => refreshed.push("hints"));
    providers.lenses.onDidChangeCodeLenses(() => resolve(refreshed.push("lenses")));
  });
  editor.change(document, span(3, 23, 28), "width");
  await editor.problemsOf(uri);
  await isRefreshed;
  assert(refreshed.includes("hints"));
  assert.equal((await providers.hints.provideInlayHints(document, new Range(at(0, 0), at(9, 0)))).length, 0);
  const [lens] = await providers.lenses.provideCodeLenses(document);
  assert.match(lens.command.title, /^16 parameters, /);
  assert.equal(lens.range.start.line, 2);

  const hover = await providers.hover.provideHover(document, at(2, 5));
  assert.match(hover.contents.value, /^```net\nnet Small\(x: f32\[N, 3\]\) \{\n```\nSmall\.\n\n16 parameters/);
  same(hover.range, span(2, 4, 9));
  assert.equal(await providers.hover.provideHover(document, at(4, 0)), null);
  same(await providers.definition.provideDefinition(document, at(3, 24)), { uri, range: span(0, 0, 5) });
  assert.equal(await providers.definition.provideDefinition(document, at(4, 0)), null);
  const references = (includeDeclaration) =>
    providers.references.provideReferences(document, at(0, 0), { includeDeclaration });
  same(await references(false), [{ uri, range: span(3, 23, 28) }]);
  assert.equal((await references(true)).length, 2);
  const highlights = await providers.highlights.provideDocumentHighlights(document, at(0, 0));
  same(highlights[0], { range: span(0, 0, 5), kind: 2 });
  const renamed = await providers.rename.provideRenameEdits(document, at(0, 0), "depth");
  same(renamed.edits[uri][1], { range: span(3, 23, 28), newText: "depth" });
  await assert.rejects(providers.rename.provideRenameEdits(document, at(0, 0), "net"), { message: "`net` is no name" });
  const symbols = await providers.symbols.provideDocumentSymbols(document);
  assert.deepEqual(
    symbols.map(({ name, kind }) => [name, kind]),
    [["width", 13], ["Small", 4]], // a constant and a class
  );
  const items = await providers.completion.provideCompletionItems(document, at(3, 23));
  same(items.find(({ label }) => label === "Linear"), { label: "Linear", kind: 2, sortText: "1Linear" }); // a function
  same(items.find(({ label }) => label === "Patches"), {
    label: "Patches",
    kind: 2,
    detail: "import std.vision",
    sortText: "1Patches",
    additionalTextEdits: [{ range: new Range(at(0, 0), at(0, 0)), newText: "import std.vision\n" }],
  });
  const format = () => providers.formatting.provideDocumentFormattingEdits(document, { tabSize: 2, insertSpaces: true });
  assert.match((await format())[0].newText, /\n  return y = x/);

  // A text with errors is not formatted.
  editor.change(document, span(0, 8, 9), "= 4");
  const [syntax] = await editor.problemsOf(uri, ...(await messagesWhere(uri, 0)));
  assert.equal(syntax.range.start.line, 0);
  assert.equal(await format(), null);
  editor.change(document, span(0, 8, 11), "4");
  await editor.problemsOf(uri);
  editor.close(document);
  await providers.symbols.provideDocumentSymbols({ uri }).then((none) => same(none, []));
}

/** A text that has no file yet, with a job, a tensor and an import. */
async function editUntitled() {
  const { providers } = editor;
  const uri = "untitled:Untitled-1";
  const lines = [
    "net A(x: f32[N, 3]) {",
    "  y = x |> Linear(2)",
    "  return y",
    "}",
    "train A as run { loss = mean(y); batch = 1; duration = 1 step; train as part { times = 2 } }",
    'import "std/v',
  ];
  const document = editor.open(uri, lines.slice(0, 5).join("\n"));
  await editor.problemsOf(uri);
  const whole = new Range(at(0, 0), at(9, 0));
  same(await providers.hints.provideInlayHints(document, whole), [{ position: at(1, 3), label: ": f32[N, 2]", kind: 1 }]);
  same(await providers.definition.provideDefinition(document, at(2, 9)), { uri, range: span(1, 2, 3) });
  const [, run] = await providers.symbols.provideDocumentSymbols(document);
  assert.deepEqual(run.children.map(({ name }) => name), ["part"]);
  editor.change(document, span(4, 0, lines[4].length), lines[5]);
  const items = await providers.completion.provideCompletionItems(document, at(4, lines[5].length));
  const item = items.find(({ label }) => label === "std/vision.net");
  same([item.insertText, item.range], ["std/vision.net", span(4, 8, 13)]);
  editor.close(document);
}

/** An imported file that others write and delete. */
async function editBesideOthers() {
  const parts = path.join(folder, "parts.net");
  const uri = pathToFileURL(path.join(folder, "whole.net")).href;
  const tell = (event) => event.fire(pathToFileURL(parts).href);
  fs.rmSync(parts, { force: true });
  const document = editor.open(uri, "import parts\nnet A(x: f32[N, 3]) { return y = x |> Linear(width) }\n");
  const missing = await messagesWhere(uri, 0);
  fs.writeFileSync(parts, "width = 4\n");
  tell(editor.created);
  await editor.problemsOf(uri);
  fs.writeFileSync(parts, "width = = 5\n");
  tell(editor.written);
  assert.match((await messagesWhere(uri, 0))[0], /parts\.net: /);
  fs.rmSync(parts);
  tell(editor.deleted);
  await editor.problemsOf(uri, ...missing);
  editor.close(document);
}

/** The messages that a file has, once the first of them is in a line. */
async function messagesWhere(uri, line) {
  const isThere = () => (editor.problems.get(uri) || []).some(({ range }) => range.start.line === line);
  if (!isThere()) await new Promise((resolve) => editor.published.event(() => isThere() && resolve()));
  return editor.problems.get(uri).map(({ message }) => message);
}

/** Imports are searched in the folders of a setting, too. A new one starts the server again. */
async function editWithFolders() {
  const uri = pathToFileURL(path.join(folder, "elsewhere.net")).href;
  fs.mkdirSync(path.join(folder, "more"), { recursive: true });
  fs.writeFileSync(path.join(folder, "more/shared.net"), "width = 4\n");
  const document = editor.open(uri, "import shared\nnet A(x: f32[N, 3]) { return y = x |> Linear(width) }\n");
  await messagesWhere(uri, 0);
  vscode.workspace.workspaceFolders = [{ uri: { fsPath: folder } }];
  editor.settings.includeFolders = ["more"];
  editor.configured.fire({ affectsConfiguration: (name) => name === "netc.includeFolders" });
  await editor.problemsOf(uri);
  editor.close(document);
}

/** A server that is not there, or ends, is told. */
async function doWithout() {
  const uri = pathToFileURL(path.join(folder, "again.net")).href;
  editor.settings.serverPath = path.join(folder, "nowhere");
  editor.answer = "Open Settings";
  editor.configured.fire({ affectsConfiguration: (name) => name === "netc.serverPath" });
  while (!editor.executed) await new Promise(setImmediate);
  const missing = `\`${editor.settings.serverPath}\` is not found; the setting \`netc.serverPath\` says where netc-lsp is`;
  same(editor.errors, [missing]);
  assert.equal(editor.log, `${missing}\n`);
  same(editor.executed, ["workbench.action.openSettings", "netc.serverPath"]);
  const document = editor.open(uri, "width = = 4\n");
  await assert.rejects(editor.providers.symbols.provideDocumentSymbols(document), { message: missing });

  editor.settings.serverPath = path.join(folder, "ends");
  fs.writeFileSync(editor.settings.serverPath, "#!/bin/sh\necho about to end >&2\nexit 3\n", { mode: 0o755 });
  await editor.commands["netc.restart"]();
  while (editor.errors.length < 2 || !editor.log.includes("about")) await new Promise(setImmediate);
  assert.equal(editor.errors[1], "netc-lsp ended, with status 3");

  // Started again, it is told of what is open.
  editor.settings.serverPath = "netc-lsp";
  await editor.commands["netc.restart"]();
  assert.equal((await messagesWhere(uri, 0)).length, 1);
  await extension.deactivate();
  assert.equal(editor.errors.length, 2);
}

let isDone = false;
// A promise that nobody keeps lets Node end, too.
process.on("exit", (status) => (process.exitCode = status || Number(!isDone)));

const giveUp = setTimeout(() => assert.fail("the server does not answer"), 120_000);
giveUp.unref(); // if all is done, that does not matter

(async () => {
  readMessages();
  await talkToTheServer();
  extension.activate({ subscriptions: [] });
  await edit();
  await editUntitled();
  await editBesideOthers();
  await editWithFolders();
  await doWithout();
  isDone = true;
})();
