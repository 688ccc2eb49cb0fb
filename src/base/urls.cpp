#include "base/urls.hpp"

#include <cstddef>

#include "base/text.hpp"

namespace base {
namespace {

bool is_scheme_character(char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
}

// No URL holds one of these unescaped.
bool ends_url(char c) {
    const auto code = static_cast<unsigned char>(c);
    return code <= 0x20 || code == 0x7f || c == '"' || c == '<' || c == '>' || c == '`';
}

// A URL may hold these, but at its end they belong to the sentence around it.
bool is_punctuation(char c) {
    return std::string_view{",'()[]{};:.!?\\"}.find(c) != std::string_view::npos;
}

// The length of "://", or of the same with the slashes escaped as in some JSON; 0 if neither.
std::size_t separator_at(std::string_view text, std::size_t at) {
    for (const std::string_view separator : {"://", ":\\/\\/"}) {
        if (text.substr(at).starts_with(separator)) return separator.size();
    }
    return 0;
}

bool url_begins_at(std::string_view text, std::size_t at) {
    if (at == text.size() || !is_letter(text[at])) return false;
    while (at < text.size() && is_scheme_character(text[at])) ++at;
    return separator_at(text, at) > 0;
}

// The end of the URL whose part after the separator begins at `begin`. Commas, quotes and brackets
// in the middle do not end it: passwords and queries may hold them, IPv6 hosts do.
std::size_t url_end(std::string_view text, std::size_t begin) {
    std::size_t end = begin;
    while (end < text.size() && !ends_url(text[end])) {
        if (is_punctuation(text[end]) && url_begins_at(text, end + 1)) break;
        ++end;
    }
    while (end > begin && is_punctuation(text[end - 1])) --end;
    return end;
}

}  // namespace

std::string redact_urls(std::string_view text) {
    std::string redacted;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t separator = separator_at(text, at);
        if (separator == 0) {
            redacted += text[at++];
            continue;
        }
        const std::size_t begin = at + separator;
        const std::size_t end = url_end(text, begin);
        redacted += "://";
        if (end > begin) redacted += ellipsis;
        at = end;
    }
    return redacted;
}

}  // namespace base
