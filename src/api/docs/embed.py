#!/usr/bin/env python3
"""Makes the header that holds GET /docs and GET /docs/openapi.json.

    embed.py openapi.json page.css VERSION OUTPUT
"""

import json
import pathlib
import sys

import page as docs_page

HEADER = """#pragma once

#include <string_view>

namespace api::docs {{

// Arrays first: compilers do not count so many characters of a literal.
inline constexpr char document_text[] = R"docs({document})docs";
inline constexpr std::string_view document{{document_text, sizeof document_text - 1}};

inline constexpr char page_text[] = R"docs({page})docs";
inline constexpr std::string_view page{{page_text, sizeof page_text - 1}};

}}  // namespace api::docs
"""


def main():
    document, style, version, output = sys.argv[1:]
    text = pathlib.Path(document).read_text(encoding="utf-8").replace("@VERSION@", version)
    page = docs_page.render(json.loads(text), pathlib.Path(style).read_text(encoding="utf-8"))
    for embedded in (text, page):
        if ')docs"' in embedded:
            sys.exit("embed.py: the text holds the end of a raw string")
    pathlib.Path(output).write_text(HEADER.format(document=text, page=page), encoding="utf-8")


if __name__ == "__main__":
    main()
