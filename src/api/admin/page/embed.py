#!/usr/bin/env python3
"""Makes the header that holds what the page of operators is made of.

    embed.py page.css page.js icon.svg OUTPUT
"""

import pathlib
import sys

NAMES = ("style_sheet", "script", "icon")


def main():
    *files, output = sys.argv[1:]
    constants = ""
    for name, file in zip(NAMES, files, strict=True):
        text = pathlib.Path(file).read_text(encoding="utf-8")
        if ')page"' in text:
            sys.exit(f"embed.py: {file} holds the end of a raw string")
        constants += f'inline constexpr std::string_view {name} = R"page({text})page";\n'
    pathlib.Path(output).write_text(
        "#pragma once\n\n#include <string_view>\n\nnamespace api::admin::page {\n\n"
        f"{constants}\n}}  // namespace api::admin::page\n", encoding="utf-8")


if __name__ == "__main__":
    main()
