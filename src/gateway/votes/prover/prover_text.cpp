#include "gateway/votes/prover/prover_text.hpp"

#include <algorithm>
#include <cstdint>

#include "domain/failure.hpp"

namespace gateway::votes {
namespace {

constexpr std::size_t secret_characters = 20;
constexpr std::string_view ellipsis = "\xe2\x80\xa6";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Of hex or base64, also with its URL-safe characters and with `\x1f` for a byte.
bool is_coded(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("+/=-_\\").find(c) != std::string_view::npos;
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
    const auto is_hex = [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    return std::ranges::all_of(word, is_hex) ? word.size() : 0;
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

char printable(char c) {
    if (c == '"') return '\'';
    if (static_cast<std::uint8_t>(c) < 0x20 || c == 0x7f) return ' ';
    return static_cast<std::uint8_t>(c) < 0x80 ? c : '?';
}

std::string without_secrets(std::string_view text) {
    std::string kept;
    for (std::size_t at = 0; at < text.size();) {
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
    return kept;
}

}  // namespace

std::string harmless_text(std::string_view text, std::size_t bytes_max) {
    const std::string kept = without_secrets(domain::redact_urls(text));
    std::string line;
    for (std::size_t at = 0; at < kept.size() && line.size() < bytes_max;) {
        if (std::string_view(kept).substr(at).starts_with(ellipsis)) {
            line += ellipsis;
            at += ellipsis.size();
            continue;
        }
        const char c = printable(kept[at++]);
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

}  // namespace gateway::votes
