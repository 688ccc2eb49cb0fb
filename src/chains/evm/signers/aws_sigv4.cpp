#include "chains/evm/signers/aws_sigv4.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "base/text.hpp"
#include "domain/bytes.hpp"

namespace chains::evm::signers {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view last_part = "aws4_request";

domain::ByteView bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

domain::Bytes32 hmac(domain::ByteView key, std::string_view text) {
    domain::Bytes32 out{};
    unsigned int size = 0;
    ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text).data(),
           text.size(), out.data(), &size);
    return out;
}

std::string hex_hash(std::string_view text) {
    return domain::to_hex(domain::sha256(bytes_of(text)));
}

std::string padded(unsigned number, std::size_t digits) {
    std::string text = std::to_string(number);
    if (text.size() < digits) text.insert(0, digits - text.size(), '0');
    return text;
}

std::string canonical_query(std::string_view query) {
    std::vector<std::pair<std::string, std::string>> parts;
    while (!query.empty()) {
        const std::string_view part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(part.size() + 1, query.size()));
        const std::size_t equals = std::min(part.find('='), part.size());
        parts.emplace_back(uri_escaped(part.substr(0, equals), true),
                           uri_escaped(part.substr(std::min(equals + 1, part.size())), true));
    }
    std::ranges::sort(parts);
    std::string out;
    for (const auto& [name, value] : parts) {
        out += (out.empty() ? "" : "&") + name + "=" + value;
    }
    return out;
}

// Without spaces around it, and one for several inside.
std::string trimmed_value(std::string_view value) {
    std::string out;
    for (const char c : base::trimmed(value)) {
        if (c != ' ' || !out.ends_with(' ')) out += c;
    }
    return out;
}

struct CanonicalHeaders {
    std::string lines;
    std::string names;
};

CanonicalHeaders canonical_headers(const AwsRequest& request) {
    std::map<std::string, std::string> sorted;
    for (const auto& [name, value] : request.headers) {
        const auto [place, is_new] =
            sorted.try_emplace(base::lower_case(name), trimmed_value(value));
        if (!is_new) place->second += "," + trimmed_value(value);
    }
    CanonicalHeaders out;
    for (const auto& [name, value] : sorted) {
        out.lines += name + ":" + value + "\n";
        out.names += (out.names.empty() ? "" : ";") + name;
    }
    return out;
}

domain::Bytes32 signing_key(const std::string& secret, std::string_view date,
                            const AwsScope& scope) {
    std::string start = "AWS4" + secret;
    domain::Bytes32 key = hmac(bytes_of(start), date);
    ::OPENSSL_cleanse(start.data(), start.size());
    key = hmac(key, scope.region);
    key = hmac(key, scope.service);
    return hmac(key, last_part);
}

}  // namespace

std::string uri_escaped(std::string_view text, bool keeps_escapes) {
    constexpr std::string_view unreserved = "-._~";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool is_escape = keeps_escapes && c == '%' && text.size() - i > 2 &&
                               base::is_hex_digit(text[i + 1]) && base::is_hex_digit(text[i + 2]);
        if (base::is_letter(c) || base::is_digit(c) || is_escape ||
            unreserved.find(c) != std::string_view::npos) {
            out += c;
            continue;
        }
        constexpr std::string_view digits = "0123456789ABCDEF";
        const auto byte = static_cast<unsigned char>(c);
        out += {'%', digits[byte >> 4U], digits[byte & 0xfU]};
    }
    return out;
}

std::string amz_date(domain::Timestamp time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(time - day)};
    return padded(static_cast<unsigned>(static_cast<int>(date.year())), 4) +
           padded(static_cast<unsigned>(date.month()), 2) +
           padded(static_cast<unsigned>(date.day()), 2) + "T" +
           padded(static_cast<unsigned>(clock.hours().count()), 2) +
           padded(static_cast<unsigned>(clock.minutes().count()), 2) +
           padded(static_cast<unsigned>(clock.seconds().count()), 2) + "Z";
}

std::string sigv4_authorization(const AwsRequest& request, const AwsCredentials& credentials,
                                const AwsScope& scope, domain::Timestamp time) {
    const CanonicalHeaders headers = canonical_headers(request);
    std::string canonical{request.method};
    canonical.append("\n").append(request.path);
    canonical.append("\n").append(canonical_query(request.query));
    canonical.append("\n").append(headers.lines);
    canonical.append("\n").append(headers.names);
    canonical.append("\n").append(hex_hash(request.body));

    const std::string moment = amz_date(time);
    const std::string date = moment.substr(0, 8);
    std::string where = date;
    for (const std::string_view part : {scope.region, scope.service, last_part}) {
        where.append("/").append(part);
    }
    const std::string to_sign =
        std::string{algorithm} + "\n" + moment + "\n" + where + "\n" + hex_hash(canonical);
    const auto signature = hmac(signing_key(credentials.secret_access_key, date, scope), to_sign);
    return std::string{algorithm} + " Credential=" + credentials.access_key_id + "/" + where +
           ", SignedHeaders=" + headers.names + ", Signature=" + domain::to_hex(signature);
}

}  // namespace chains::evm::signers
