#include "api/access/client_keys.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.hpp"

namespace api::access {

namespace {

constexpr std::size_t name_bytes_max = 64;
constexpr std::size_t key_bytes_min = 16;
constexpr std::size_t key_bytes_max = 512;
constexpr std::uint64_t one_request = 1'000'000;
constexpr std::uint64_t rate_min = one_request / 100;
constexpr std::uint64_t rate_max = 10'000 * one_request;
constexpr std::uint32_t burst_max = 100'000;
constexpr std::size_t decimals_max = 6;

constexpr std::string_view blanks = " \t";

bool is_name(std::string_view text) {
    const auto allowed = [](char c) {
        return base::is_digit(c) || base::is_letter(c) || c == '.' || c == '_' || c == '-';
    };
    // Requests without a key go by the name of `-`.
    return !text.empty() && text != "-" && text.size() <= name_bytes_max &&
           std::ranges::all_of(text, allowed);
}

bool is_key(std::string_view text) {
    return text.size() >= key_bytes_min && text.size() <= key_bytes_max &&
           std::ranges::all_of(text, base::is_visible);
}

// `2`, `0.25`: whole and decimals apart, so that every rate is exact.
std::optional<std::uint64_t> rate_of(std::string_view text) {
    const std::size_t point = text.find('.');
    const auto whole = base::number_in<std::uint32_t>(text.substr(0, point));
    if (!whole) return {};
    std::uint64_t micro = *whole * one_request;
    if (point != std::string_view::npos) {
        std::string decimals(text.substr(point + 1));
        if (decimals.empty() || decimals.size() > decimals_max) return {};
        decimals.resize(decimals_max, '0');
        const auto part = base::number_in<std::uint32_t>(decimals);
        if (!part) return {};
        micro += *part;
    }
    if (micro < rate_min || micro > rate_max) return {};
    return micro;
}

// Of `NAME KEY RATE BURST more` the five, empty where nothing stands.
std::array<std::string_view, 5> fields_of(std::string_view line) {
    std::array<std::string_view, 5> fields;
    for (std::string_view& field : fields) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        const std::size_t end = std::min(line.find_first_of(blanks), line.size());
        field = line.substr(0, end);
        line.remove_prefix(end);
    }
    return fields;
}

class KeysReader {
public:
    explicit KeysReader(std::string_view file) : file_(file) {}

    // What is wrong with the line.
    std::optional<std::string> read_line(std::string_view line) {
        ++line_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        const auto [name, key, rate, burst, rest] = fields_of(line);
        if (name.empty() || name.starts_with('#')) return {};
        if (!is_name(name)) {
            return problem("the name can not be used",
                           "NAME KEY [RATE [BURST]] with 1 to 64 letters, digits, points, "
                           "underscores and hyphens as NAME, and not - alone");
        }
        if (!is_key(key)) {
            return problem(key.empty() ? "the key is missing" : "the key can not be used",
                           "16 to 512 printable ASCII characters without spaces");
        }
        if (!rest.empty()) {
            return problem("there is something after BURST",
                           "NAME KEY [RATE [BURST]], comments in lines of their own");
        }
        if (keys_.size() == ClientKeys::keys_max) {
            return problem("too many keys", std::to_string(ClientKeys::keys_max) + " in a file");
        }
        ClientKey read{client_named(name), digest_of(key), nullptr};
        if (!rate.empty()) {
            if (auto refused = read_allowance(rate, burst, read)) return refused;
        }
        if (const auto [first, added] = names_.try_emplace(std::string(name), line_); !added) {
            return twice("name", first->second);
        }
        if (const auto [first, added] = digests_.try_emplace(read.digest, line_); !added) {
            return twice("key", first->second);
        }
        keys_.push_back(std::move(read));
        return {};
    }

    std::variant<ClientKeys, std::string> finish() {
        if (keys_.empty()) {
            return std::string(file_) +
                   ": holds no key, nobody could come in; allowed: lines NAME KEY [RATE [BURST]]";
        }
        return ClientKeys(std::move(keys_));
    }

private:
    std::optional<std::string> read_allowance(std::string_view rate, std::string_view burst,
                                              ClientKey& key) const {
        const auto micro = rate_of(rate);
        if (!micro) {
            return problem("what follows the key is no rate",
                           "0.01 to 10000 requests per second with at most 6 decimals");
        }
        const std::uint64_t rounded_up = (*micro + one_request - 1) / one_request;
        Allowance allowance{*micro, static_cast<std::uint32_t>(rounded_up)};
        if (!burst.empty()) {
            const auto read = base::number_in<std::uint32_t>(burst);
            if (!read || *read < 1 || *read > burst_max) {
                return problem("what follows the rate is no burst", "1 to 100000 requests");
            }
            allowance.burst = *read;
        }
        key.limiter = std::make_shared<Gcra>(allowance);
        return {};
    }

    std::string problem(std::string_view what, std::string_view allowed) const {
        return std::string(file_)
            .append(":")
            .append(std::to_string(line_))
            .append(": ")
            .append(what)
            .append("; allowed: ")
            .append(allowed);
    }

    std::string twice(std::string_view what, std::size_t first_line) const {
        return problem(std::string("the ").append(what).append(" is that of line ") +
                           std::to_string(first_line),
                       std::string("each ").append(what).append(" once"));
    }

    const std::string_view file_;
    std::size_t line_ = 0;
    std::vector<ClientKey> keys_;
    std::map<std::string, std::size_t> names_;
    std::map<domain::Bytes32, std::size_t> digests_;
};

}  // namespace

domain::Bytes32 digest_of(std::string_view key) {
    return domain::sha256({reinterpret_cast<const std::uint8_t*>(key.data()), key.size()});
}

bool equal_in_constant_time(const domain::Bytes32& left, const domain::Bytes32& right) {
    std::uint8_t difference = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        difference = static_cast<std::uint8_t>(difference | (left[i] ^ right[i]));
    }
    return difference == 0;
}

Client client_named(std::string_view name) {
    std::uint64_t id = 0;
    const domain::Bytes32 digest = digest_of(name);
    for (std::size_t i = 0; i < 8; ++i) id = id << 8U | digest[i];
    return {std::string(name), std::max<std::uint64_t>(id, 1)};
}

std::variant<ClientKeys, std::string> ClientKeys::read(std::string_view text,
                                                       std::string_view file) {
    KeysReader reader(file);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        if (auto problem = reader.read_line(text.substr(0, end))) return *std::move(problem);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return reader.finish();
}

const ClientKey* ClientKeys::find(std::string_view key) const {
    const domain::Bytes32 digest = digest_of(key);
    const ClientKey* found = nullptr;
    for (const ClientKey& known : keys_) {
        if (equal_in_constant_time(known.digest, digest)) found = &known;
    }
    return found;
}

void ClientKeys::take_over_limiters(const ClientKeys& old) {
    std::map<std::string_view, const ClientKey*> by_name;
    for (const ClientKey& key : old.keys_) by_name.emplace(key.client.name, &key);
    for (ClientKey& key : keys_) {
        const auto before = by_name.find(key.client.name);
        if (before == by_name.end() || !key.limiter || !before->second->limiter) continue;
        const std::shared_ptr<Gcra>& kept = before->second->limiter;
        if (kept->allowance() == key.limiter->allowance()) key.limiter = kept;
    }
}

}  // namespace api::access
