// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// As much of the module `vscode` as the extension uses, without a window. `editor` is for tests.

"use strict";

/** A class that keeps the arguments of its constructor under these names. */
const keeping = (...names) =>
  class {
    constructor(...values) {
      names.forEach((name, i) => (this[name] = values[i]));
    }
  };

class EventEmitter {
  listeners = [];
  event = (listener) => this.listeners.push(listener);
  fire = (value) => this.listeners.forEach((listener) => listener(value));
}

class Range extends keeping("start", "end") {
  isEqual(other) {
    return JSON.stringify(this) === JSON.stringify(other);
  }
}

const editor = {
  opened: new EventEmitter(),
  changed: new EventEmitter(),
  closed: new EventEmitter(),
  configured: new EventEmitter(),
  published: new EventEmitter(),
  created: new EventEmitter(),
  written: new EventEmitter(),
  deleted: new EventEmitter(),
  providers: {},
  commands: {},
  errors: [],
  answer: undefined, // to the next error
  log: "",
  settings: { serverPath: "netc-lsp", includeFolders: [] },

  open(uri, text) {
    const document = { uri, version: 1, languageId: "net", text, getText: () => document.text };
    workspace.textDocuments.push(document);
    editor.opened.fire(document);
    return document;
  },
  /** One edit, in a line. */
  change(document, range, text) {
    const lines = document.text.split("\n");
    const { line, character } = range.start;
    lines[line] = lines[line].slice(0, character) + text + lines[line].slice(range.end.character);
    document.text = lines.join("\n");
    document.version++;
    editor.changed.fire({ document, contentChanges: [{ range, text }] });
  },
  close(document) {
    workspace.textDocuments.splice(workspace.textDocuments.indexOf(document), 1);
    editor.closed.fire(document);
  },
  /** The problems of a file, when they have these messages. */
  problemsOf(uri, ...messages) {
    return new Promise((resolve) => {
      const look = () => {
        const problems = editor.problems.get(uri);
        if (problems && `${problems.map((each) => each.message)}` === `${messages}`) resolve(problems);
      };
      editor.published.event(look);
      look();
    });
  },
};

const register = (kind) => (selector, provider) => (editor.providers[kind] = provider);

const workspace = {
  textDocuments: [],
  onDidOpenTextDocument: editor.opened.event,
  onDidChangeTextDocument: editor.changed.event,
  onDidCloseTextDocument: editor.closed.event,
  onDidChangeConfiguration: editor.configured.event,
  createFileSystemWatcher: () => ({
    onDidCreate: editor.created.event,
    onDidChange: editor.written.event,
    onDidDelete: editor.deleted.event,
  }),
  getConfiguration: () => ({ get: (name) => editor.settings[name] }),
};

module.exports = {
  editor,
  workspace,
  EventEmitter,
  Range,
  Position: keeping("line", "character"),
  Location: keeping("uri", "range"),
  TextEdit: keeping("range", "newText"),
  Diagnostic: keeping("range", "message", "severity"),
  DiagnosticRelatedInformation: keeping("location", "message"),
  Hover: keeping("contents", "range"),
  MarkdownString: keeping("value"),
  DocumentHighlight: keeping("range", "kind"),
  DocumentSymbol: keeping("name", "detail", "kind", "range", "selectionRange"),
  CompletionItem: keeping("label", "kind"),
  CodeLens: keeping("range", "command"),
  InlayHint: keeping("position", "label", "kind"),
  CodeAction: keeping("title", "kind"),
  CodeActionKind: { QuickFix: "quickfix" },
  Uri: { parse: (text) => text },
  WorkspaceEdit: class {
    edits = {};
    set(uri, edits) {
      this.edits[uri] = edits;
    }
  },
  commands: {
    registerCommand: (name, run) => (editor.commands[name] = run),
    executeCommand: (...command) => (editor.executed = command),
  },
  window: {
    createOutputChannel: () => ({
      append: (text) => (editor.log += text),
      appendLine: (text) => (editor.log += `${text}\n`),
    }),
    showErrorMessage: async (message) => {
      editor.errors.push(message);
      const { answer } = editor;
      editor.answer = undefined;
      return answer;
    },
  },
  languages: {
    match: (selectors, document) =>
      selectors.some(({ language, scheme }) => language === document.languageId && document.uri.startsWith(`${scheme}:`)) ? 10 : 0,
    createDiagnosticCollection: () =>
      (editor.problems = Object.assign(new Map(), {
        set(uri, problems) {
          Map.prototype.set.call(this, uri, problems);
          editor.published.fire();
        },
      })),
    registerHoverProvider: register("hover"),
    registerDefinitionProvider: register("definition"),
    registerReferenceProvider: register("references"),
    registerDocumentHighlightProvider: register("highlights"),
    registerRenameProvider: register("rename"),
    registerDocumentSymbolProvider: register("symbols"),
    registerCompletionItemProvider: register("completion"),
    registerDocumentFormattingEditProvider: register("formatting"),
    registerCodeLensProvider: register("lenses"),
    registerInlayHintsProvider: register("hints"),
    registerCodeActionsProvider: register("fixes"),
  },
};
