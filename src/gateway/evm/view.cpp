#include "gateway/evm/view.hpp"

#include <optional>
#include <utility>

#include "domain/failure.hpp"
#include "gateway/evm/revert.hpp"
#include "gateway/rpc/decode.hpp"

namespace gateway::evm {

rpc::Call view_call(const domain::Address& to, domain::ByteView input, std::string_view block_tag) {
    rpc::Json call{{"to", rpc::hex(to)}, {"input", rpc::hex(input)}};
    return {"eth_call", rpc::Json::array({std::move(call), std::string(block_tag)})};
}

std::variant<domain::Bytes, Unread> read_view(const rpc::Answer& answer) {
    if (const auto* error = std::get_if<rpc::NodeError>(&answer)) return Unread{text_of(*error)};
    if (const auto* trouble = std::get_if<rpc::Trouble>(&answer)) {
        return Unread{text_of(*trouble), trouble->wait};
    }
    if (auto bytes = rpc::bytes(std::get<rpc::Json>(answer))) return std::move(*bytes);
    return Unread{"malformed answer"};
}

std::string text_of(const rpc::NodeError& error) {
    return domain::redact_urls(describe(error));
}

std::string text_of(const rpc::Trouble& trouble) {
    return domain::redact_urls(trouble.text);
}

}  // namespace gateway::evm
