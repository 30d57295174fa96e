// Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A client of the Language Server Protocol that needs Node's standard library alone.

"use strict";

const { spawn } = require("child_process");

/** Reads messages, each a header with the bytes of the JSON that follows, from chunks of any size. */
class MessageReader {
  constructor(accept) {
    this.accept = accept;
    this.bytes = Buffer.alloc(0);
  }

  read(chunk) {
    this.bytes = Buffer.concat([this.bytes, chunk]);
    for (;;) {
      const headerEnd = this.bytes.indexOf("\r\n\r\n");
      if (headerEnd < 0) return;
      const begin = headerEnd + 4;
      const size = /^Content-Length: *(\d+)/im.exec(this.bytes.toString("latin1", 0, headerEnd));
      const end = begin + Number(size[1]);
      if (this.bytes.length < end) return;
      const message = JSON.parse(this.bytes.toString("utf8", begin, end));
      this.bytes = this.bytes.subarray(end);
      this.accept(message);
    }
  }
}

/**
 * A process of netc-lsp. It calls `listener.notified(method, params)` for what the server tells or asks by itself,
 * `listener.logged(text)` for what it writes for people, and once `listener.ended(why)` if it ends unasked.
 */
class LanguageServer {
  /** `program` is a path, or a name that is looked up in PATH. */
  constructor(program, options, listener) {
    this.listener = listener;
    this.requests = new Map(); // by id, how to settle the promise
    this.lastId = 0;
    this.isAlive = true;
    this.process = spawn(program, options, { stdio: "pipe" });
    this.hasEnded = new Promise((resolve) => this.process.once("close", resolve));
    this.process.on("error", (error) => this.end(reasonOf(program, error)));
    this.process.on("exit", (status, signal) => this.end(`netc-lsp ended, with ${signal || `status ${status}`}`));
    this.process.stdin.on("error", () => {}); // the process has ended, which is told above
    const reader = new MessageReader((message) => this.accept(message));
    this.process.stdout.on("data", (chunk) => reader.read(chunk));
    this.process.stderr.on("data", (chunk) => listener.logged(chunk.toString()));
    const refreshed = { refreshSupport: true };
    const capabilities = { workspace: { codeLens: refreshed, inlayHint: refreshed } };
    this.ready = this.ask("initialize", { processId: process.pid, rootUri: null, capabilities });
    this.ready.then(() => this.send({ method: "initialized", params: {} }), () => {});
  }

  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  ask(method, params) {
    if (!this.isAlive) return Promise.reject(new Error("netc-lsp does not run"));
    const id = ++this.lastId;
    const answer = new Promise((resolve, reject) => this.requests.set(id, { resolve, reject }));
    this.send({ id, method, params });
    return answer;
  }

  accept(message) {
    if (message.method) {
      if (message.id !== undefined) this.send({ id: message.id, result: null });
      return this.listener.notified(message.method, message.params);
    }
    const request = this.requests.get(message.id);
    this.requests.delete(message.id);
    if (message.error) request.reject(new Error(message.error.message));
    else request.resolve(message.result);
  }

  end(why) {
    if (!this.isAlive) return;
    this.isAlive = false;
    for (const { reject } of this.requests.values()) reject(new Error(why));
    this.requests.clear();
    this.listener.ended(why);
  }

  /** The answer to a request; it rejects with the server's message. */
  async request(method, params) {
    await this.ready;
    return this.ask(method, params);
  }

  /** Messages keep their order, and wait until the server is ready. */
  notify(method, params) {
    this.ready.then(() => this.isAlive && this.send({ method, params }), () => {});
  }

  open(uri, version, text) {
    this.notify("textDocument/didOpen", { textDocument: { uri, languageId: "net", version, text } });
  }

  /** `changes` are `{ range, text }`, one after the other. */
  change(uri, version, changes) {
    this.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: changes });
  }

  close(uri) {
    this.notify("textDocument/didClose", { textDocument: { uri } });
  }

  /** Tells that a file was created (1), changed (2) or deleted (3) by others. */
  changeOnDisk(uri, type) {
    this.notify("workspace/didChangeWatchedFiles", { changes: [{ uri, type }] });
  }

  /** Asks about a text, or a position of it, as `more` says. */
  of(method, uri, more = {}) {
    return this.request(`textDocument/${method}`, { textDocument: { uri }, ...more });
  }

  /** The exit status, once it has ended. */
  async stop() {
    try {
      await this.request("shutdown", null);
      this.isAlive = false; // its end is no surprise
      this.send({ method: "exit", params: null });
    } catch {
      this.process.kill();
    }
    return this.hasEnded;
  }
}

function reasonOf(program, error) {
  const what = error.code === "ENOENT" ? `\`${program}\` is not found` : `\`${program}\` does not start: ${error.message}`;
  return `${what}; the setting \`netc.serverPath\` says where netc-lsp is`;
}

module.exports = { LanguageServer, MessageReader };
