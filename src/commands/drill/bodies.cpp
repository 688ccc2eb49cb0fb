#include "commands/drill/bodies.hpp"

#include <array>
#include <cassert>
#include <span>

#include "base/base64.hpp"
#include "chains/loopback/transaction.hpp"
#include "domain/request.hpp"

namespace commands::drill {

namespace {

constexpr std::size_t comms = std::tuple_size_v<decltype(domain::VoteShare::share_comms)>;
constexpr std::string_view contract = "0xAE026A592fC92bc5faf5005C6918Be11395508Db";
constexpr std::string_view user = "0x16A5E7cBEDA81177aFD7e789DCBf4893fAa37751";
constexpr std::size_t handle_digits = 42;
constexpr std::string_view handle_index = "00";
constexpr std::string_view handle_end = "0500";  // type, version

// Bytes without end that follow from seed and number.
class Source {
public:
    Source(std::uint64_t seed, std::uint64_t number) : seed_(seed), number_(number) {}

    domain::Bytes32 next() {
        const std::string text = "posthouse drill " + std::to_string(seed_) + " " +
                                 std::to_string(number_) + " " + std::to_string(drawn_++);
        return domain::sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }

    std::string hex(std::size_t digits) {
        std::string text;
        while (text.size() < digits) text += domain::to_hex(next());
        return text.substr(0, digits);
    }

    // Small enough for every field that curves use, as base64.
    std::string field_element() {
        domain::Bytes32 bytes = next();
        bytes.back() = 0;
        return base::to_base64(bytes);
    }

private:
    const std::uint64_t seed_;
    const std::uint64_t number_;
    std::uint64_t drawn_ = 0;
};

std::string in_quotes(std::string_view text) {
    return '"' + std::string(text) + '"';
}

// Its last eight bytes.
std::string digits_of(std::uint64_t chain) {
    domain::Bytes bytes;
    for (unsigned shift = 64; shift > 0; shift -= 8) {
        bytes.push_back(static_cast<std::uint8_t>(chain >> (shift - 8)));
    }
    return domain::to_hex(bytes);
}

std::string handle(Source& source, const Wish& wish) {
    return in_quotes("0x" + source.hex(handle_digits) + std::string(handle_index) +
                     digits_of(wish.host_chain) + std::string(handle_end));
}

std::string input_proof(Source& source, const Wish& wish) {
    return R"({"contractChainId":"0x)" + digits_of(wish.host_chain) + R"(","contractAddress":)" +
           in_quotes(contract) + R"(,"userAddress":)" + in_quotes(user) +
           R"(,"ciphertextWithInputVerification":)" +
           in_quotes(source.hex(2 * wish.ciphertext_bytes)) + R"(,"extraData":"0x00"})";
}

std::string public_decrypt(Source& source, const Wish& wish) {
    return R"({"ciphertextHandles":[)" + handle(source, wish) + R"(],"extraData":"0x00"})";
}

std::string pairs(Source& source, const Wish& wish) {
    return R"("handleContractPairs":[{"handle":)" + handle(source, wish) +
           R"(,"contractAddress":)" + in_quotes(contract) + R"(}],"contractsChainId":")" +
           std::to_string(wish.host_chain) + R"(","contractAddresses":[)" + in_quotes(contract) +
           "]";
}

std::string signature(Source& source) {
    return R"("signature":)" + in_quotes(source.hex(130)) + R"(,"publicKey":)" +
           in_quotes(source.hex(64)) + R"(,"extraData":"0x00")";
}

constexpr std::string_view validity = R"("startTimestamp":"1700000000","durationDays":"36500")";

std::string user_decrypt(Source& source, const Wish& wish) {
    return "{" + pairs(source, wish) + R"(,"requestValidity":{)" + std::string(validity) +
           R"(},"userAddress":)" + in_quotes(user) + "," + signature(source) + "}";
}

std::string delegated(Source& source, const Wish& wish) {
    return "{" + pairs(source, wish) + R"(,"delegatorAddress":)" + in_quotes(user) +
           R"(,"delegateAddress":)" + in_quotes(contract) + "," + std::string(validity) + "," +
           signature(source) + "}";
}

// What tells one share from another.
domain::VoteShare share_of(std::uint64_t seed, const Wish& wish) {
    domain::VoteShare share;
    share.round_id = Source(seed, 0).next();
    share.share_index = static_cast<std::uint32_t>(wish.number % 16);
    share.proposal_id = 3;
    share.tree_position = static_cast<std::uint32_t>(wish.number);
    return share;
}

std::string vote_share(std::uint64_t seed, const Wish& wish, Source& source) {
    const domain::VoteShare share = share_of(seed, wish);
    std::string list;
    for (std::size_t i = 0; i < comms; ++i) {
        list += (i > 0 ? "," : "") + in_quotes(source.field_element());
    }
    return R"({"shares_hash":)" + in_quotes(source.field_element()) + R"(,"proposal_id":)" +
           std::to_string(share.proposal_id) + R"(,"vote_decision":1,"enc_share":{"c1":)" +
           in_quotes(source.field_element()) + R"(,"c2":)" + in_quotes(source.field_element()) +
           R"(,"share_index":)" + std::to_string(share.share_index) + R"(},"tree_position":)" +
           std::to_string(share.tree_position) + R"(,"vote_round_id":)" +
           in_quotes(domain::to_hex(share.round_id)) + R"(,"share_comms":[)" + list +
           R"(],"primary_blind":)" + in_quotes(source.field_element()) + R"(,"submit_at":)" +
           std::to_string(wish.submit_at) + "}";
}

}  // namespace

std::string_view path_of(domain::Kind kind) {
    switch (kind) {
        case domain::Kind::input_proof:
            return "/v2/input-proof";
        case domain::Kind::public_decrypt:
            return "/v2/public-decrypt";
        case domain::Kind::user_decrypt:
            return "/v2/user-decrypt";
        case domain::Kind::delegated_user_decrypt:
            return "/v2/delegated-user-decrypt";
        case domain::Kind::unified_user_decrypt:
            return "/v3/user-decrypt";
        case domain::Kind::share:
            break;
    }
    return "/shielded-vote/v1/shares";
}

std::string body_of(std::uint64_t seed, const Wish& wish) {
    Source source(seed, wish.number);
    switch (wish.kind) {
        case domain::Kind::input_proof:
            return input_proof(source, wish);
        case domain::Kind::public_decrypt:
            return public_decrypt(source, wish);
        case domain::Kind::user_decrypt:
            return user_decrypt(source, wish);
        case domain::Kind::delegated_user_decrypt:
            return delegated(source, wish);
        case domain::Kind::unified_user_decrypt:
            assert(false);
            break;
        case domain::Kind::share:
            break;
    }
    return vote_share(seed, wish, source);
}

domain::Bytes32 nullifier_of(std::uint64_t seed, const Wish& wish) {
    return chains::loopback::content_of(share_of(seed, wish));
}

}  // namespace commands::drill
