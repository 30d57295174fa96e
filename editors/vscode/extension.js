// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What netc-lsp says, in the terms of Visual Studio Code.

"use strict";

const path = require("path");
const vscode = require("vscode");
const { LanguageServer } = require("./server");

const specifications = ["file", "untitled"].map((scheme) => ({ language: "net", scheme }));
const isSpecification = (document) => vscode.languages.match(specifications, document) > 0;

const uriOf = (document) => `${document.uri}`;
const toUri = (uri) => vscode.Uri.parse(uri);
// Both count UTF-16 code units. Enumerations of the protocol begin with 1, those of the editor with 0.
const toPosition = ({ line, character }) => new vscode.Position(line, character);
const toRange = ({ start, end }) => new vscode.Range(toPosition(start), toPosition(end));
const toLocation = ({ uri, range }) => new vscode.Location(toUri(uri), toRange(range));
const toEdit = ({ range, newText }) => new vscode.TextEdit(toRange(range), newText);
const fromPosition = ({ line, character }) => ({ line, character });
const fromRange = ({ start, end }) => ({ start: fromPosition(start), end: fromPosition(end) });

function toWorkspaceEdit({ changes }) {
  const edit = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(changes)) edit.set(toUri(uri), edits.map(toEdit));
  return edit;
}

function toDiagnostic(problem) {
  const diagnostic = new vscode.Diagnostic(toRange(problem.range), problem.message, problem.severity - 1);
  diagnostic.source = problem.source;
  diagnostic.code = problem.code;
  diagnostic.relatedInformation = (problem.relatedInformation || []).map(
    ({ location, message }) => new vscode.DiagnosticRelatedInformation(toLocation(location), message),
  );
  return diagnostic;
}

function toSymbol({ name, kind, range, selectionRange, children }) {
  const symbol = new vscode.DocumentSymbol(name, "", kind - 1, toRange(range), toRange(selectionRange));
  symbol.children = (children || []).map(toSymbol);
  return symbol;
}

function toCompletion({ label, kind, detail, sortText, textEdit, additionalTextEdits }) {
  const item = new vscode.CompletionItem(label, kind - 1);
  Object.assign(item, { detail, sortText });
  if (textEdit) Object.assign(item, { insertText: textEdit.newText, range: toRange(textEdit.range) });
  if (additionalTextEdits) item.additionalTextEdits = additionalTextEdits.map(toEdit);
  return item;
}

class Client {
  constructor(context) {
    this.log = vscode.window.createOutputChannel("netc");
    this.problems = vscode.languages.createDiagnosticCollection("netc");
    this.costsChanged = new vscode.EventEmitter();
    this.typesChanged = new vscode.EventEmitter();
    const files = vscode.workspace.createFileSystemWatcher("**/*.net");
    const changed = (type) => (uri) => this.server.changeOnDisk(`${uri}`, type);
    files.onDidCreate(changed(1));
    files.onDidChange(changed(2));
    files.onDidDelete(changed(3));
    context.subscriptions.push(
      this.log,
      this.problems,
      this.costsChanged,
      this.typesChanged,
      files,
      vscode.workspace.onDidOpenTextDocument((document) => this.open(document)),
      vscode.workspace.onDidChangeTextDocument((event) => this.change(event)),
      vscode.workspace.onDidCloseTextDocument((document) => isSpecification(document) && this.server.close(uriOf(document))),
      vscode.workspace.onDidChangeConfiguration(
        (event) => ["netc.serverPath", "netc.includeFolders"].some((name) => event.affectsConfiguration(name)) && this.restart(),
      ),
      vscode.commands.registerCommand("netc.restart", () => this.restart()),
      ...this.providers(),
    );
    this.start();
  }

  start() {
    const settings = vscode.workspace.getConfiguration("netc");
    const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath || "";
    const options = settings.get("includeFolders").flatMap((name) => ["-I", path.resolve(root, name)]);
    this.server = new LanguageServer(settings.get("serverPath"), options, {
      notified: (method, params) => this.notified(method, params),
      logged: (text) => this.log.append(text),
      ended: (why) => this.ended(why),
    });
    vscode.workspace.textDocuments.forEach((document) => this.open(document));
  }

  async restart() {
    const { server } = this;
    this.problems.clear();
    this.start();
    await server.stop();
  }

  async ended(why) {
    this.log.appendLine(why);
    const [again, settings] = ["Start Again", "Open Settings"];
    const answer = await vscode.window.showErrorMessage(why, again, settings);
    if (answer === again) await this.restart();
    if (answer === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "netc.serverPath");
  }

  open(document) {
    if (isSpecification(document)) this.server.open(uriOf(document), document.version, document.getText());
  }

  change({ document, contentChanges }) {
    if (!isSpecification(document) || !contentChanges.length) return;
    const changes = contentChanges.map(({ range, text }) => ({ range: fromRange(range), text }));
    this.server.change(uriOf(document), document.version, changes);
  }

  notified(method, params) {
    if (method === "textDocument/publishDiagnostics") this.publish(params);
    if (method === "workspace/codeLens/refresh") this.costsChanged.fire();
    if (method === "workspace/inlayHint/refresh") this.typesChanged.fire();
  }

  /** Problems of a text that has changed since are left out: those of the new text come. */
  publish({ uri, version, diagnostics }) {
    const document = vscode.workspace.textDocuments.find((each) => uriOf(each) === uri);
    if (document && version !== undefined && version !== document.version) return;
    this.problems.set(toUri(uri), diagnostics.map(toDiagnostic));
  }

  providers() {
    const of = (method, document, more) => this.server.of(method, uriOf(document), more);
    const at = (method, document, position, more) => of(method, document, { position: fromPosition(position), ...more });
    const languages = vscode.languages;
    return [
      languages.registerHoverProvider(specifications, {
        async provideHover(document, position) {
          const said = await at("hover", document, position);
          return said && new vscode.Hover(new vscode.MarkdownString(said.contents.value), toRange(said.range));
        },
      }),
      languages.registerDefinitionProvider(specifications, {
        async provideDefinition(document, position) {
          const place = await at("definition", document, position);
          return place && toLocation(place);
        },
      }),
      languages.registerReferenceProvider(specifications, {
        async provideReferences(document, position, { includeDeclaration }) {
          return (await at("references", document, position, { context: { includeDeclaration } })).map(toLocation);
        },
      }),
      languages.registerDocumentHighlightProvider(specifications, {
        async provideDocumentHighlights(document, position) {
          const places = await at("documentHighlight", document, position);
          return places.map(({ range, kind }) => new vscode.DocumentHighlight(toRange(range), kind - 1));
        },
      }),
      languages.registerRenameProvider(specifications, {
        async provideRenameEdits(document, position, newName) {
          return toWorkspaceEdit(await at("rename", document, position, { newName }));
        },
      }),
      languages.registerDocumentSymbolProvider(specifications, {
        async provideDocumentSymbols(document) {
          return (await of("documentSymbol", document)).map(toSymbol);
        },
      }),
      languages.registerCompletionItemProvider(
        specifications,
        {
          async provideCompletionItems(document, position) {
            return ((await at("completion", document, position)) || []).map(toCompletion);
          },
        },
        ...'.(,="',
      ),
      languages.registerInlayHintsProvider(specifications, {
        onDidChangeInlayHints: this.typesChanged.event,
        async provideInlayHints(document, range) {
          const hints = await of("inlayHint", document, { range: fromRange(range) });
          return hints.map(({ position, label, kind }) => new vscode.InlayHint(toPosition(position), label, kind));
        },
      }),
      languages.registerDocumentFormattingEditProvider(specifications, {
        async provideDocumentFormattingEdits(document, { tabSize, insertSpaces }) {
          const edits = await of("formatting", document, { options: { tabSize, insertSpaces } });
          return edits && edits.map(toEdit);
        },
      }),
      languages.registerCodeLensProvider(specifications, {
        onDidChangeCodeLenses: this.costsChanged.event,
        async provideCodeLenses(document) {
          const lenses = await of("codeLens", document);
          return lenses.map(({ range, command }) => new vscode.CodeLens(toRange(range), command));
        },
      }),
      languages.registerCodeActionsProvider(
        specifications,
        {
          async provideCodeActions(document, range, context) {
            const fixes = await of("codeAction", document, { range: fromRange(range), context: { diagnostics: [] } });
            return fixes.map(({ title, diagnostics, edit }) => {
              const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
              const [fixed] = diagnostics.map(toDiagnostic);
              action.diagnostics = context.diagnostics.filter(
                (each) => each.message === fixed.message && each.range.isEqual(fixed.range),
              );
              action.edit = toWorkspaceEdit(edit);
              return action;
            });
          },
        },
        { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
      ),
    ];
  }
}

let client;

exports.activate = (context) => {
  client = new Client(context);
};
exports.deactivate = () => client.server.stop();
