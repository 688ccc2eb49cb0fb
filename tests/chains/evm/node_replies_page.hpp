#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "chains/jsonrpc/reply_class.hpp"

namespace support {

// docs/node-replies.md as the tables have it.
inline std::string node_replies_page() {
    using namespace chains::jsonrpc;
    std::string page =
        "# What nodes say, and what is done about it\n\n"
        "Ethereum nodes and the providers in front of them say the same things in other words, "
        "codes and places. Posthouse sorts every error into one of the classes below; the sender, "
        "the estimations, the look-ups and `posthouse doctor` use the same table.\n\n"
        "- Words count more than codes, and codes more than the HTTP status. Case, spaces and "
        "punctuation do not matter; `*` stands for anything, `#` for a number, a space at the end "
        "for the end of a word. Words are looked for in `message` and in the text inside `data`.\n"
        "- What follows a revert is the contract's and is not judged.\n"
        "- The order of the classes of a reply that fits several is that of the table in "
        "`src/chains/jsonrpc/reply_words.cpp`: the first row that fits counts.\n"
        "- Whatever is not understood costs time, not tries: see the last class. The journal has "
        "the node's words once a minute as `transaction_refused`, and every refusal with its class "
        "at the level `debug` as `send_refused`.\n\n"
        "This page is written from the table: `build/tests/chains/evm/write_node_replies > "
        "docs/node-replies.md`.\n";
    const auto add_rows = [&](ReplyClass of, std::span<const ReplyWords> rows) {
        std::vector<std::pair<std::string, std::string>> said;
        for (const ReplyWords& row : rows) {
            if (row.reply_class != of) continue;
            const std::string who(row.said_by);
            auto entry = std::ranges::find(said, who, &std::pair<std::string, std::string>::first);
            if (entry == said.end()) entry = said.insert(said.end(), {who, ""});
            if (!entry->second.empty()) entry->second += ", ";
            entry->second += "`" + std::string(row.phrase) + "`";
        }
        for (const auto& [who, phrases] : said) page += "- " + who + ": " + phrases + "\n";
    };
    for (const ReplyClassText& text : reply_class_texts()) {
        page += "\n## " + std::string(text.name) + "\n\n";
        page += "Means: " + std::string(text.meaning) + ".\n\n";
        page += "Posthouse: " + std::string(text.action) + ".\n\n";
        add_rows(text.reply_class, reply_words());
        add_rows(text.reply_class, reply_words_rare());
        for (const ReplyCode& code : reply_codes()) {
            if (code.reply_class != text.reply_class) continue;
            page += "- code " + std::to_string(code.code) + ": " + std::string(code.said_by) + "\n";
        }
    }
    return page;
}

}  // namespace support
