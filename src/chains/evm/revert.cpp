#include "chains/evm/revert.hpp"

#include <algorithm>
#include <string_view>

#include "base/sanitize.hpp"
#include "base/text.hpp"
#include "chains/evm/abi.hpp"
#include "chains/evm/named_errors.hpp"
#include "chains/jsonrpc/reply_class.hpp"

namespace chains::evm {
namespace {

constexpr std::size_t description_bytes_max = 500;
constexpr std::size_t selector_bytes = 4;
constexpr std::uint32_t error_string = 0x08c379a0;  // Error(string)
constexpr std::uint32_t panic = 0x4e487b71;         // Panic(uint256)

std::uint32_t selector_at(domain::ByteView bytes) {
    std::uint32_t selector = 0;
    for (const std::uint8_t byte : bytes.first(selector_bytes)) selector = selector << 8U | byte;
    return selector;
}

std::string in_hex(std::uint32_t number) {
    domain::Bytes bytes;
    for (unsigned shift = 32; shift > 0; shift -= 8) {
        bytes.push_back(static_cast<std::uint8_t>(number >> (shift - 8)));
    }
    return "0x" + domain::to_hex(bytes);
}

std::optional<std::uint32_t> selector_in(std::string_view message) {
    const std::string text = base::lower_case(message);
    for (auto at = text.find("0x"); at != std::string::npos; at = text.find("0x", at + 1)) {
        domain::Bytes bytes(selector_bytes);
        const std::string_view digits = std::string_view{text}.substr(at + 2, 2 * selector_bytes);
        if (domain::from_hex(digits, bytes)) return selector_at(bytes);
    }
    return std::nullopt;
}

// What the error says beyond its selector; empty when that is not known.
std::string detail(std::uint32_t selector, const std::optional<domain::Bytes>& data) {
    const bool has_arguments = data && data->size() > selector_bytes;
    const abi::Decoder arguments{has_arguments ? domain::ByteView{*data}.subspan(selector_bytes)
                                               : domain::ByteView{}};
    if (selector == error_string) {
        const auto text = arguments.bytes(0);
        if (!text) return "Error";
        return "Error: " + std::string{text->begin(), text->end()};
    }
    if (selector == panic) {
        const auto code = arguments.number(0);
        if (!code || *code > 0xff) return "Panic";
        return "Panic: 0x" + domain::to_hex(domain::Bytes{static_cast<std::uint8_t>(*code)});
    }
    const auto named = std::ranges::find(named_errors(), selector, &NamedError::selector);
    if (named == named_errors().end()) return {};
    return std::string{named->signature.substr(0, named->signature.find('('))};
}

// As a client may see it.
std::string shown(std::string_view text, std::size_t bytes_max) {
    return base::sanitize(text,
                          {.bytes_max = bytes_max, .controls = base::Sanitizing::Controls::drop});
}

}  // namespace

bool is_revert(const jsonrpc::NodeError& error) {
    return jsonrpc::classify(error).reply_class == jsonrpc::ReplyClass::reverted;
}

std::optional<std::uint32_t> selector_of(const jsonrpc::NodeError& error) {
    if (error.data && error.data->size() >= selector_bytes) return selector_at(*error.data);
    return selector_in(error.message);
}

std::string describe(const jsonrpc::NodeError& error) {
    const auto selector = selector_of(error);
    if (!selector) {
        const std::string message = shown(error.message, description_bytes_max);
        return message.empty() ? "no reason given" : message;
    }
    const std::string known = shown(detail(*selector, error.data), description_bytes_max - 13);
    return known.empty() ? in_hex(*selector) : in_hex(*selector) + " (" + known + ")";
}

domain::Failure reverted(const jsonrpc::NodeError& error) {
    return {domain::Reason::reverted,
            "Transaction simulation failed: Execution reverted: " + describe(error),
            selector_of(error)};
}

}  // namespace chains::evm
