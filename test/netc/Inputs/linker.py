# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Writes `c++`, whose programs are shell scripts: linker.py FOLDER SCRIPT [MODE].

import pathlib
import stat
import sys

folder, script = pathlib.Path(sys.argv[1]), sys.argv[2]
mode = sys.argv[3] if len(sys.argv) > 3 else "755"
linker = folder / "c++"
linker.write_text(
    f"""#!/bin/sh
# c++ -o PROGRAM ..
cat > "$2" <<'END'
#!/bin/sh
{script}
END
chmod {mode} "$2"
"""
)
linker.chmod(linker.stat().st_mode | stat.S_IXUSR)
