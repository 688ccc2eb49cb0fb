#include "chains/jsonrpc/reply_class.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace chains::jsonrpc {

namespace {

using base::is_digit;
using base::is_lower;
using base::is_upper;
using base::lower_case;
using domain::Milliseconds;

constexpr std::size_t gap_max = 48;
constexpr Milliseconds named_wait_max = std::chrono::minutes{10};

bool is_word(char c) {
    return base::is_letter(c) || is_digit(c);
}

// `eth_sendRawTransactionSync`, but neither `nonce_too_low` nor `GAS_LIMIT`.
bool is_method_name(std::string_view word) {
    const std::size_t bar = word.find('_');
    if (bar == 0 || bar == std::string_view::npos || bar + 1 == word.size()) return false;
    const std::string_view space = word.substr(0, bar);
    const std::string_view name = word.substr(bar + 1);
    if (!std::ranges::all_of(space, [](char c) { return is_lower(c) || is_digit(c); }))
        return false;
    if (!is_lower(name.front()) || !std::ranges::all_of(name, is_word)) return false;
    constexpr std::array<std::string_view, 6> spaces{"eth",    "net",   "web3",
                                                     "txpool", "debug", "trace"};
    return std::ranges::any_of(name, is_upper) || std::ranges::count(spaces, space) > 0;
}

// A method's name becomes the word `method`, unless that stands before it already.
std::string without_method_names(std::string_view text) {
    const auto belongs = [](char c) { return is_word(c) || c == '_'; };
    std::string out;
    std::string last;
    for (std::size_t at = 0; at < text.size();) {
        if (!belongs(text[at])) {
            out.push_back(text[at++]);
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && belongs(text[end])) ++end;
        std::string word(text.substr(at, end - at));
        if (is_method_name(word)) word = lower_case(last) == "method" ? "" : "method";
        out += word;
        if (!word.empty()) last = word;
        at = end;
    }
    return out;
}

// Letters and digits in lower case, and where words begin.
struct Squeezed {
    std::string text;
    std::vector<bool> begins;
};

Squeezed squeeze(std::string_view text) {
    Squeezed out;
    char before = ' ';
    for (const char c : text) {
        if (is_word(c)) {
            const bool begins = !is_word(before) || (is_upper(c) && !is_upper(before)) ||
                                is_digit(c) != is_digit(before);
            out.text.push_back(base::lower(c));
            out.begins.push_back(begins);
        }
        // An apostrophe holds a word together.
        if (c != '\'') before = c;
    }
    return out;
}

// A phrase between its gaps.
struct Piece {
    std::string text;
    enum class Gap { none, anything, number } before = Gap::none;
};

std::vector<Piece> pieces_of(std::string_view phrase) {
    std::vector<Piece> pieces(1);
    for (const char c : phrase) {
        if (c == '*' || c == '#') {
            pieces.push_back({{}, c == '*' ? Piece::Gap::anything : Piece::Gap::number});
        } else if (is_word(c)) {
            pieces.back().text.push_back(base::lower(c));
        }
    }
    return pieces;
}

// How much of the text they take, from its begin on.
std::optional<std::size_t> fit(std::string_view text, std::span<const Piece> rest) {
    const std::size_t size = text.size();
    for (const Piece& piece : rest) {
        std::size_t at = 0;
        if (piece.before == Piece::Gap::number) {
            while (at < text.size() && is_digit(text[at])) ++at;
            if (at == 0 || !text.substr(at).starts_with(piece.text)) return std::nullopt;
        } else {
            at =
                text.substr(0, std::min(text.size(), gap_max + piece.text.size())).find(piece.text);
            if (at == std::string_view::npos) return std::nullopt;
        }
        text.remove_prefix(at + piece.text.size());
    }
    return size - text.size();
}

struct Row {
    std::vector<Piece> pieces;
    ReplyClass reply_class;
    bool ends_word;
};

// Where the phrase begins.
std::size_t find(const Squeezed& said, const Row& row) {
    const std::string& first = row.pieces.front().text;
    for (std::size_t at = said.text.find(first); at != std::string::npos;
         at = said.text.find(first, at + 1)) {
        if (!said.begins[at]) continue;
        const std::size_t behind = at + first.size();
        const auto taken =
            fit(std::string_view(said.text).substr(behind), std::span(row.pieces).subspan(1));
        if (!taken) continue;
        const std::size_t end = behind + *taken;
        if (!row.ends_word || end == said.text.size() || said.begins[end]) return at;
    }
    return std::string::npos;
}

std::vector<Row> rows_of(std::span<const ReplyWords> all) {
    std::vector<Row> rows;
    for (const ReplyWords& words : all) {
        rows.push_back({pieces_of(words.phrase), words.reply_class, words.phrase.ends_with(' ')});
    }
    return rows;
}

const std::vector<Row>& rows() {
    static const std::vector<Row> all = rows_of(reply_words());
    return all;
}

const std::vector<Row>& rare_rows() {
    static const std::vector<Row> all = rows_of(reply_words_rare());
    return all;
}

// What stands before a revert; whether there is one.
bool cut_at_revert(Squeezed& said) {
    std::size_t cut = std::string::npos;
    for (const Row& row : rows()) {
        if (row.reply_class == ReplyClass::reverted) cut = std::min(cut, find(said, row));
    }
    if (cut == std::string::npos) return false;
    said.text.resize(cut);
    said.begins.resize(cut);
    return true;
}

std::optional<ReplyClass> judge(const Squeezed& said, const std::vector<Row>& table) {
    for (const Row& row : table) {
        if (find(said, row) != std::string::npos) return row.reply_class;
    }
    return std::nullopt;
}

// --- numbers ------------------------------------------------------------------------------------

struct Number {
    Wei value = 0;
    std::string_view unit;  // the letters that follow
};

// Decimal, with a point if need be; in units of 10^-9 of what was written. Nothing when too long.
std::optional<Number> number_at(std::string_view text) {
    constexpr Wei nano = 1'000'000'000;
    constexpr Wei limit = Wei{1} << 90U;
    Number read;
    std::size_t at = 0;
    for (; at < text.size() && is_digit(text[at]); ++at) {
        if (read.value > limit) return std::nullopt;
        read.value = read.value * 10 + static_cast<unsigned>(text[at] - '0');
    }
    if (at == 0) return std::nullopt;
    read.value *= nano;
    if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
        Wei part = nano;
        for (++at; at < text.size() && is_digit(text[at]); ++at) {
            part /= 10;
            read.value += part * static_cast<unsigned>(text[at] - '0');
        }
    }
    while (at < text.size() && text[at] == ' ') ++at;
    std::size_t end = at;
    while (end < text.size() && is_lower(text[end])) ++end;
    read.unit = text.substr(at, end - at);
    return read;
}

// The first number close behind one of the keys, in lower case.
std::optional<Number> number_after(std::string_view text, std::string_view key) {
    constexpr std::size_t near = 24;
    for (std::size_t at = text.find(key); at != std::string_view::npos;
         at = text.find(key, at + 1)) {
        const std::string_view rest = text.substr(at + key.size());
        const std::size_t digit = rest.substr(0, near).find_first_of("0123456789");
        if (digit == std::string_view::npos) continue;
        if (auto read = number_at(rest.substr(digit))) return read;
    }
    return std::nullopt;
}

std::optional<Wei> price_after(std::string_view text, std::string_view key) {
    const auto read = number_after(text, key);
    if (!read) return std::nullopt;
    if (read->unit == "gwei") return read->value;
    if (read->unit == "ether" || read->unit == "eth") return std::nullopt;
    return read->value / 1'000'000'000;
}

void read_prices(const std::string& text, ReplyMeaning& meaning) {
    if (text.find("effectivepriorityfeepergas") != std::string::npos) {
        meaning.tip_min = price_after(text, "<");
        return;
    }
    for (const char* key : {"tip needed", "minimum needed", "required priority fee"}) {
        if (!meaning.tip_min) meaning.tip_min = price_after(text, key);
    }
    if (meaning.tip_min) return;
    for (const char* key : {"minimum gas price", "minimal:", "use at least",
                            "needs to be higher than", "basefeepergas", "basefee", "base fee",
                            "minimum value", "minimum:", "minimum is", "at least"}) {
        if (!meaning.fee_min) meaning.fee_min = price_after(text, key);
    }
}

// In the chain's money where no unit of it is named, whatever that is called.
std::optional<Wei> amount_after(std::string_view text, std::string_view key) {
    constexpr Wei giga = 1'000'000'000;
    constexpr Wei limit = Wei{1} << 90U;
    const auto read = number_after(text, key);
    if (!read || read->value == 0) return std::nullopt;
    if (read->unit == "wei") return read->value / giga;
    if (read->unit == "gwei") return read->value;
    return read->value <= limit ? std::optional{read->value * giga} : std::nullopt;
}

// Of the limits in such a message the one that counts is the smallest: what we asked for is above.
std::optional<std::uint64_t> gas_cap_in(std::string_view text) {
    constexpr std::uint64_t gas_min = 21'000;
    constexpr std::size_t digits_max = 15;
    std::optional<std::uint64_t> smallest;
    for (std::size_t at = 0; at < text.size();) {
        if (!is_word(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && is_word(text[end])) ++end;
        const std::string_view word = text.substr(at, end - at);
        at = end;
        if (word.size() > digits_max || !std::ranges::all_of(word, is_digit)) continue;
        const std::uint64_t value = std::stoull(std::string(word));
        if (value >= gas_min) smallest = std::min(value, smallest.value_or(value));
    }
    return smallest;
}

std::optional<Milliseconds> wait_in(const std::string& text) {
    for (const char* key :
         {"backoff_seconds", "backoffseconds", "retry_after_seconds", "retry_after_ms",
          "retryafterms", "retry_after", "retryafter", "retry-after", "retry after", "retry in",
          "again in", "again after", "reset in", "resets in"}) {
        const auto read = number_after(text, key);
        if (!read) continue;
        const std::string_view unit = read->unit;
        const bool in_ms =
            std::string_view(key).ends_with("ms") || unit == "ms" || unit.starts_with("milli");
        Wei ms = read->value / (in_ms ? 1'000'000'000 : 1'000'000);
        if (unit.starts_with("min") || unit == "m") ms *= 60;
        if (unit.starts_with("hour") || unit == "h") ms *= 3'600;
        ms = std::min<Wei>(ms, static_cast<Wei>(named_wait_max.count()));
        return Milliseconds{static_cast<std::int64_t>(ms)};
    }
    return std::nullopt;
}

// Which of the two the transaction's nonce is, where words alone do not say it.
std::optional<ReplyClass> nonce_by_numbers(const std::string& text) {
    const auto first = [&](std::initializer_list<const char*> keys) {
        std::optional<Number> found;
        for (const char* key : keys) {
            if (!found) found = number_after(text, key);
        }
        return found;
    };
    const auto account = first({"account has nonce of", "account nonce", "expected nonce to be",
                                "expected", "current nonce", "next nonce"});
    const auto ours = first({"tx has nonce of", "transaction nonce", "got", "actual", "provided"});
    if (!account || !ours || account->value == ours->value) return std::nullopt;
    return ours->value < account->value ? ReplyClass::nonce_too_low : ReplyClass::nonce_gap;
}

// A node of Mantle puts what its sequencer said into quotation marks behind words of its own.
std::string_view forwarded_words(std::string_view message) {
    const std::size_t begin = message.find('\'');
    const std::size_t end = message.rfind('\'');
    const bool has_words = begin != std::string_view::npos && end > begin + 1;
    if (!has_words || !message.starts_with("failed to forward tx to sequencer")) return message;
    return message.substr(begin + 1, end - begin - 1);
}

// What the words say; nothing when they say nothing, `rare` only when they are all there is.
std::optional<ReplyClass> judge_words(const NodeError& error, bool rare) {
    const std::vector<Row>& table = rare ? rare_rows() : rows();
    Squeezed message = squeeze(without_method_names(forwarded_words(error.message)));
    const bool reverts = cut_at_revert(message);
    if (const auto found = judge(message, table)) return found;
    if (reverts) return ReplyClass::reverted;
    Squeezed detail = squeeze(without_method_names(error.detail));
    const bool reverts_below = cut_at_revert(detail);
    if (const auto found = judge(detail, table)) return found;
    if (reverts_below) return ReplyClass::reverted;
    return std::nullopt;
}

ReplyClass class_of(const NodeError& error) {
    if (const auto said = judge_words(error, false)) return *said;
    if (const auto said = judge_words(error, true)) return *said;
    const auto known = std::ranges::find(reply_codes(), error.code, &ReplyCode::code);
    if (known != reply_codes().end()) return known->reply_class;
    // A selector and words of 32 bytes are what a contract reverts with.
    const bool is_revert_data = error.data && error.data->size() % 32 == 4;
    return is_revert_data ? ReplyClass::reverted : ReplyClass::not_understood;
}

}  // namespace

ReplyMeaning classify(const NodeError& error) {
    ReplyMeaning meaning{class_of(error), {}, {}, {}, {}, {}};
    const std::string text = lower_case(error.message + " " + error.detail);
    switch (meaning.reply_class) {
        case ReplyClass::nonce_too_low:
        case ReplyClass::nonce_gap:
            meaning.reply_class = nonce_by_numbers(text).value_or(meaning.reply_class);
            break;
        case ReplyClass::underpriced:
            read_prices(text, meaning);
            break;
        case ReplyClass::overpriced:
            meaning.fee_cap = amount_after(text, "configured cap");
            break;
        case ReplyClass::gas_too_high:
            meaning.gas_cap = gas_cap_in(text);
            break;
        case ReplyClass::throttled:
        case ReplyClass::front_door:
        case ReplyClass::pool_busy:
            meaning.wait = wait_in(text);
            break;
        default:
            break;
    }
    return meaning;
}

ReplyClass classify(std::string_view words) {
    return classify(NodeError{0, std::string(words), {}}).reply_class;
}

bool is_internal_error(const NodeError& error) {
    constexpr std::int64_t internal_error = -32'603;
    return error.code == internal_error &&
           classify(error).reply_class == ReplyClass::not_understood;
}

bool turns_away(int http_status) {
    return http_status == 401 || http_status == 402 || http_status == 403;
}

bool is_front_door(int http_status) {
    return turns_away(http_status) || http_status == 429 ||
           (http_status >= 500 && http_status < 600);
}

}  // namespace chains::jsonrpc
