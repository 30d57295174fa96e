# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Packs the extension: `python3 editors/vscode/pack.py netc.vsix`, then `code --install-extension netc.vsix`.

The same files make the same archive, byte by byte.
"""

import json
import pathlib
import sys
import zipfile
from xml.sax.saxutils import quoteattr

folder = pathlib.Path(__file__).resolve().parent
root = folder.parents[1]
FILES = [
    root / "LICENSE",
    folder / "README.md",
    folder / "extension.js",
    folder / "language-configuration.json",
    root / "editors/net.tmLanguage.json",
    folder / "package.json",
    folder / "server.js",
]
TYPES = {"js": "application/javascript", "json": "application/json", "md": "text/markdown", "vsixmanifest": "text/xml"}

package = json.loads((folder / "package.json").read_text())
types = "".join(f'\n  <Default Extension=".{suffix}" ContentType="{kind}"/>' for suffix, kind in TYPES.items())
content_types = f"""<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{types}
  <Override PartName="/extension/LICENSE" ContentType="text/plain"/>
</Types>
"""
manifest = f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={quoteattr(package["name"])} Version={quoteattr(package["version"])} Publisher={quoteattr(package["publisher"])}/>
    <DisplayName>{package["displayName"]}</DisplayName>
    <Description xml:space="preserve">{package["description"]}</Description>
    <Categories>{",".join(package["categories"])}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(package["engines"]["vscode"])}/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value={quoteattr(",".join(package["extensionKind"]))}/>
    </Properties>
    <License>extension/LICENSE</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE" Addressable="true"/>
  </Assets>
</PackageManifest>
"""

parts = {"[Content_Types].xml": content_types, "extension.vsixmanifest": manifest}
parts |= {f"extension/{path.name}": path.read_bytes() for path in FILES}
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    for name, content in parts.items():
        info = zipfile.ZipInfo(name)  # of 1980, and not of now
        info.external_attr = 0o644 << 16
        archive.writestr(info, content, zipfile.ZIP_DEFLATED)
