#include "base/sanitize.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text.hpp"
#include "base/urls.hpp"
#include "base/utf8.hpp"

namespace base {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";
// Enough to fill the answer, so that a text of megabytes is not worked through.
constexpr std::size_t looked_at_factor = 32;

void hide(std::string& text, std::string_view secret) {
    if (secret.empty()) return;
    std::size_t at = 0;
    while ((at = text.find(secret, at)) != std::string::npos) {
        text.replace(at, secret.size(), ellipsis);
        at += ellipsis.size();
    }
}

// C0, DEL, C1; also the line and paragraph separators, which a log viewer may break a line at.
bool is_control(std::string_view character) {
    const auto first = static_cast<std::uint8_t>(character[0]);
    return first < 0x20 || first == 0x7f ||
           (first == 0xc2 && static_cast<std::uint8_t>(character[1]) < 0xa0) ||
           character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9";
}

bool is_space(std::string_view character) {
    return character == "\n" || character == "\r" || character == "\t";
}

std::string without_controls(std::string_view text, Sanitizing::Controls controls) {
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
        text.remove_prefix(character.size());
        if (length == 0) {
            clean += replacement;
        } else if (!is_control(character)) {
            clean += character;
        } else if (controls == Sanitizing::Controls::blank || is_space(character)) {
            clean.append(character.size(), ' ');
        }
    }
    return clean;
}

constexpr std::size_t secret_characters = 20;
constexpr std::size_t digits_max = 30;

bool is_alphanumeric(char c) {
    return is_digit(c) || is_letter(c);
}

// Of hex or base64, also with its URL-safe characters and with `\x1f` for a byte.
bool is_coded(char c) {
    return is_alphanumeric(c) || std::string_view("+/=-_\\").find(c) != std::string_view::npos;
}

bool is_no_space(char c) {
    return static_cast<std::uint8_t>(c) > 0x20;
}

// A long word as no name of a function, a type or a file is.
bool is_suspicious(std::string_view word) {
    static constexpr std::string_view in_names = ":./()_-,'\"=[]{}<>!?;";
    constexpr std::ptrdiff_t digits_in_names = 8;
    const auto is_of_name = [](char c) {
        return is_alphanumeric(c) || in_names.find(c) != std::string_view::npos;
    };
    return word.size() >= secret_characters &&
           (!std::ranges::all_of(word, is_of_name) ||
            std::ranges::count_if(word, is_digit) > digits_in_names);
}

bool is_between_numbers(char c) {
    return std::string_view(" \t\r\n,;:.|'\"()[]{}").find(c) != std::string_view::npos;
}

std::size_t run_end(std::string_view text, std::size_t begin, bool (*belongs)(char)) {
    while (begin < text.size() && belongs(text[begin])) ++begin;
    return begin;
}

// Digits of a word that is a number in hex or decimal; 0: it is none.
std::size_t digits_of(std::string_view word) {
    if (word.starts_with("0x") || word.starts_with("\\x")) word.remove_prefix(2);
    return std::ranges::all_of(word, is_hex_digit) ? word.size() : 0;
}

// Where a secret ends that begins here; `begin` itself: none does.
std::size_t secret_end(std::string_view text, std::size_t begin) {
    std::size_t end = run_end(text, begin, is_coded);
    if (end - begin >= secret_characters) return end;
    std::size_t digits = 0;
    std::size_t secret = begin;
    for (std::size_t word = begin; end > word;) {
        const std::size_t more = digits_of(text.substr(word, end - word));
        if (more == 0) break;
        digits += more;
        if (digits >= secret_characters) secret = end;
        word = run_end(text, end, is_between_numbers);
        end = run_end(text, word, is_coded);
    }
    return secret;
}

char plain(char c) {
    if (c == '"') return '\'';
    if (static_cast<std::uint8_t>(c) < 0x20 || c == 0x7f) return ' ';
    return static_cast<std::uint8_t>(c) < 0x80 ? c : '?';
}

// Where numbers begin that are too many, whatever stands between them; the end: nowhere.
std::size_t crowd_of_digits(std::string_view text) {
    std::size_t digits = 0;
    std::size_t first = text.size();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = run_end(text, at, is_alphanumeric);
        const std::string_view word = text.substr(at, end - at);
        const std::size_t more = word.empty() ? 0 : digits_of(word);
        if (more > 0 && std::ranges::any_of(word, is_digit)) first = std::min(first, at);
        digits += more;
        at = std::max(end, at + 1);
    }
    return digits > digits_max ? first : text.size();
}

std::string without_secrets(std::string_view text) {
    std::string kept;
    const std::size_t crowd = crowd_of_digits(text);
    const bool is_cut = crowd < text.size();
    text = text.substr(0, crowd);
    for (std::size_t at = 0; at < text.size();) {
        const bool word_begins = at == 0 || !is_no_space(text[at - 1]);
        const std::size_t word_end = run_end(text, at, is_no_space);
        if (word_begins && is_suspicious(text.substr(at, word_end - at))) {
            kept += ellipsis;
            at = word_end;
            continue;
        }
        if (!is_coded(text[at])) {
            kept += text[at++];
            continue;
        }
        const std::size_t secret = secret_end(text, at);
        if (secret > at) {
            kept += ellipsis;
            at = secret;
            continue;
        }
        const std::size_t word = run_end(text, at, is_coded);
        kept += text.substr(at, word - at);
        at = word;
    }
    if (is_cut) kept += ellipsis;
    return kept;
}

}  // namespace

std::string sanitize(std::string_view text, const Sanitizing& rules) {
    const std::string_view looked_at = text.substr(0, looked_at_factor * rules.bytes_max);
    // Dropping may join what stands around it to a URL or a secret: it comes before they are looked
    // for. A space parts a URL from its end: blanking comes after.
    const bool drops = rules.controls == Sanitizing::Controls::drop;
    std::string line = redact_urls(drops ? without_controls(looked_at, rules.controls) : looked_at);
    for (const std::string& secret : rules.secrets) hide(line, secret);
    if (!drops) line = without_controls(line, rules.controls);
    line.resize(cut_utf8(line, rules.bytes_max).size());
    return line;
}

std::string harmless_text(std::string_view text, std::size_t bytes_max,
                          std::span<const std::string> secrets) {
    std::string redacted = redact_urls(text);
    for (const std::string& secret : secrets) hide(redacted, secret);
    const std::string kept = without_secrets(redacted);
    std::string line;
    for (std::size_t at = 0; at < kept.size() && line.size() < bytes_max;) {
        if (std::string_view(kept).substr(at).starts_with(ellipsis)) {
            line += ellipsis;
            at += ellipsis.size();
            continue;
        }
        const char c = plain(kept[at++]);
        if (c != ' ' || (!line.empty() && line.back() != ' ')) line += c;
    }
    if (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

std::string_view without_open_end(std::string_view text) {
    while (!text.empty() && (is_coded(text.back()) || is_between_numbers(text.back()))) {
        text.remove_suffix(1);
    }
    return text;
}

std::string log_value(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

}  // namespace base
