#include "chains/votes/reveal.hpp"

#include <algorithm>
#include <string_view>

#include "base/base64.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "chains/jsonrpc/node.hpp"
#include "chains/jsonrpc/parse.hpp"

namespace chains::votes {
namespace {

std::string base64_of(domain::ByteView bytes) {
    return base::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool read(const jsonrpc::Json& value, domain::Bytes32& bytes) {
    return value.is_string() && base::from_base64(value.get_ref<const std::string&>(), bytes);
}

}  // namespace

std::string to_json(const Reveal& reveal) {
    std::array<std::uint8_t, 64> enc_share{};
    std::ranges::copy(reveal.c1, enc_share.begin());
    std::ranges::copy(reveal.c2, enc_share.begin() + reveal.c1.size());
    return jsonrpc::Json{{"share_nullifier", base64_of(reveal.share_nullifier)},
                         {"enc_share", base64_of(enc_share)},
                         {"proposal_id", reveal.proposal_id},
                         {"vote_decision", reveal.vote_decision},
                         {"proof", base64_of(reveal.proof)},
                         {"vote_round_id", base64_of(reveal.round_id)},
                         {"vote_comm_tree_anchor_height", reveal.anchor_height}}
        .dump();
}

std::optional<RevealName> name_in(domain::ByteView json) {
    const auto message = jsonrpc::parse(std::string(json.begin(), json.end()));
    RevealName name;
    if (!message || !read(jsonrpc::member(*message, "vote_round_id"), name.round_id) ||
        !read(jsonrpc::member(*message, "share_nullifier"), name.nullifier)) {
        return std::nullopt;
    }
    return name;
}

}  // namespace chains::votes
