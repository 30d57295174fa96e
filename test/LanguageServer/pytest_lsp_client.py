# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# REQUIRES: pytest_lsp
# RUN: %python -m pytest -q -p no:cacheprovider %s

# A client with the types of the protocol, which each answer must have.

import pathlib

import pytest
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, fixture

examples = pathlib.Path(__file__).resolve().parents[2] / "examples"


@fixture(config=ClientServerConfig(server_command=["netc-lsp"]))
async def client(lsp_client: LanguageClient):
    for method in types.WORKSPACE_INLAY_HINT_REFRESH, types.WORKSPACE_CODE_LENS_REFRESH:
        lsp_client.feature(method)(lambda *_: None)
    await lsp_client.initialize_session(
        types.InitializeParams(capabilities=client_capabilities("neovim"), root_uri=examples.as_uri())
    )
    yield
    await lsp_client.shutdown_session()


async def open_example(client, name):
    uri = (examples / name).as_uri()
    item = types.TextDocumentItem(uri=uri, language_id="net", version=1, text=(examples / name).read_text())
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return types.TextDocumentIdentifier(uri=uri)


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["gpt2.net", "resnet.net", "mfu.net"])
async def test_every_answer_has_the_type_of_the_protocol(client, name):
    document = await open_example(client, name)
    assert not client.diagnostics[document.uri]
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=document))
    at = {"text_document": document, "position": symbols[-1].selection_range.start}
    assert (await client.text_document_hover_async(types.HoverParams(**at))).contents.value
    assert await client.text_document_definition_async(types.DefinitionParams(**at))
    start = {"text_document": document, "position": types.Position(line=0, character=0)}
    assert (await client.text_document_completion_async(types.CompletionParams(**start)))[0].label
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(text_document=document))
    assert any("FLOP" in lens.command.title for lens in lenses)
    whole = types.Range(start=types.Position(line=0, character=0), end=types.Position(line=999, character=0))
    hints = types.InlayHintParams(text_document=document, range=whole)
    await client.text_document_inlay_hint_async(hints)
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = types.DocumentFormattingParams(text_document=document, options=options)
    assert not await client.text_document_formatting_async(edits)
