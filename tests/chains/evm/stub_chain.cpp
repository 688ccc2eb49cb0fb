#include "chains/evm/stub_chain.hpp"

#include <algorithm>
#include <utility>

#include "chains/evm/abi.hpp"
#include "chains/evm/selectors.hpp"
#include "chains/evm/topics.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/keccak.hpp"

namespace support {

namespace evm = chains::evm;
namespace jsonrpc = chains::jsonrpc;
using Json = jsonrpc::Json;

namespace {

domain::Bytes32 number_word(std::uint64_t number) {
    domain::Bytes32 word{};
    for (std::size_t i = 0; i < 8; ++i) {
        word[31 - i] = static_cast<std::uint8_t>(number >> (8 * i));
    }
    return word;
}

jsonrpc::Answer error(std::int64_t code, std::string message) {
    return jsonrpc::NodeError{code, std::move(message), {}};
}

constexpr std::uint32_t multicall_selector = 0xac9650d8;
constexpr std::uint32_t version_selector = 0x0d8e6e2c;

std::uint32_t selector_of(const domain::Bytes& data) {
    std::uint32_t selector = 0;
    for (std::size_t i = 0; i < 4 && i < data.size(); ++i) selector = selector << 8U | data[i];
    return selector;
}

// What an access list says that allows everything.
jsonrpc::Answer all_allowed(const domain::Bytes& multicall) {
    const evm::abi::Decoder arguments{domain::ByteView{multicall}.subspan(4)};
    const auto calls = arguments.bytes_list(0);
    evm::abi::Tuple answers;
    for (std::size_t i = 0; i < calls->size(); ++i) answers.add_bytes(number_word(1));
    evm::abi::Tuple result;
    result.add_list(calls->size(), answers);
    return Json(jsonrpc::hex(result.encoded()));
}

enum class Family { input, pub, user, none };

Family family_of(const domain::Bytes& data) {
    switch (selector_of(data)) {
        case 0xa7004996:
            return Family::input;
        case 0xd8998f45:
            return Family::pub;
        case 0xf1b57adb:
        case 0x9fad5a2f:
        case 0xb4de2c37:
            return Family::user;
        default:
            return Family::none;
    }
}

}  // namespace

StubChain::StubChain(const domain::Address& account, const domain::Address& contract)
    : account_(account), contract_(contract), accounts_{{account, {}}} {
    new_block();
}

jsonrpc::Answer StubChain::call(const Call& call) {
    calls.push_back(call);
    if (before) {
        if (auto said = before(call)) return *said;
    }
    Answer answer = act(call);
    if (after) {
        if (auto said = after(call, answer)) return *said;
    }
    return answer;
}

std::size_t StubChain::count(const std::string& method) const {
    return static_cast<std::size_t>(std::ranges::count(calls, method, &Call::method));
}

jsonrpc::Answer StubChain::act(const Call& call) {
    const Json& params = call.params;
    const std::string& method = call.method;
    if (method == "eth_chainId") return Json("0x9fbf1");
    if (method == "eth_blockNumber") return Json(jsonrpc::hex_quantity(head()));
    if (method == "eth_getCode") return Json("0x60");
    if (method == "eth_getBalance") {
        return Json(jsonrpc::hex_quantity(
            static_cast<std::uint64_t>(accounts_.at(*jsonrpc::address(params[0])).balance)));
    }
    if (method == "eth_getTransactionCount") {
        return Json(jsonrpc::hex_quantity(nonce(*jsonrpc::address(params[0]))));
    }
    if (method == "eth_feeHistory") {
        return Json{
            {"baseFeePerGas", {jsonrpc::hex_quantity(base_fee), jsonrpc::hex_quantity(base_fee)}},
            {"reward", {{"0x3b9aca00"}}}};
    }
    if (method == "eth_getBlockByNumber") {
        const auto number =
            params[0] == "latest" ? std::optional{head()} : jsonrpc::quantity(params[0]);
        if (!number || *number > head()) return Json(nullptr);
        return Json{{"number", jsonrpc::hex_quantity(*number)},
                    {"hash", jsonrpc::hex(blocks_[*number].hash)},
                    {"baseFeePerGas", jsonrpc::hex_quantity(base_fee)},
                    {"timestamp", jsonrpc::hex_quantity(blocks_[*number].seconds)}};
    }
    if (method == "eth_estimateGas") {
        const auto data = jsonrpc::bytes(params[0].at("input"));
        if (const auto revert = refuses ? refuses(*data, true) : std::nullopt) {
            return jsonrpc::NodeError{3, "execution reverted", *revert};
        }
        return Json("0x30d40");
    }
    if (method == "eth_call") {
        const auto data = jsonrpc::bytes(params[0].at("input"));
        if (family_of(*data) != Family::none) {
            const auto revert = refuses ? refuses(*data, false) : std::nullopt;
            if (revert) return jsonrpc::NodeError{3, "execution reverted", *revert};
            return Json("0x");
        }
        if (selector_of(*data) == version_selector && !version.empty()) {
            evm::abi::Tuple said;
            said.add_bytes(domain::Bytes{version.begin(), version.end()});
            return Json(jsonrpc::hex(said.encoded()));
        }
        if (selector_of(*data) == multicall_selector) return all_allowed(*data);
        return Json(jsonrpc::hex(number_word(1)));  // ready
    }
    if (method == "eth_getLogs") return read_logs(params[0]);
    if (method == "eth_getTransactionReceipt" || method == "eth_getTransactionByHash") {
        const auto hash = jsonrpc::bytes32(params[0]);
        const auto found = std::ranges::find(included_, *hash, &Included::hash);
        if (found != included_.end()) return receipt_of(*found);
        const bool pending = std::ranges::any_of(accounts_, [&](const auto& account) {
            return std::ranges::any_of(account.second.pool, [&](const auto& entry) {
                return entry.second.second == *hash;
            });
        });
        if (pending && method == "eth_getTransactionByHash") {
            return Json{{"hash", jsonrpc::hex(*hash)}, {"blockNumber", nullptr}};
        }
        return Json(nullptr);
    }
    if (method == "eth_sendRawTransaction") return take(*jsonrpc::bytes(params[0]), false);
    if (method == "eth_sendRawTransactionSync" && knows_sync) {
        return take(*jsonrpc::bytes(params[0]), true);
    }
    return error(-32'601, "the method " + method + " does not exist/is not available");
}

jsonrpc::Answer StubChain::take(const domain::Bytes& raw, bool sync) {
    const auto transaction = evm::decode_transaction(raw);
    if (!transaction) return error(-32'602, "failed to decode signed transaction");
    const domain::Bytes32 hash = domain::keccak256(raw);
    const auto from = sender_in(raw);
    if (!from) return error(-32'003, "nobody has this account");
    Account& account = accounts_.at(*from);
    if (transaction->nonce < account.nonce) return error(-32'003, "nonce too low");
    if (account.balance < transaction->max_fee * transaction->gas_limit) {
        return error(-32'003, "Insufficient funds for gas * price + value");
    }
    Pool& pool = account.pool;
    const auto waiting = pool.find(transaction->nonce);
    if (waiting != pool.end()) {
        const evm::Transaction& old = waiting->second.first;
        if (waiting->second.second == hash) return error(-32'003, "transaction already imported");
        const bool higher = transaction->max_fee * 10 > old.max_fee * 11 &&
                            transaction->priority_fee * 10 > old.priority_fee * 11;
        if (!higher) return error(-32'003, "replacement transaction underpriced");
    }
    pool.insert_or_assign(transaction->nonce, std::pair{*transaction, hash});
    if (mines) mine_pool();
    if (!sync) return Json(jsonrpc::hex(hash));
    const auto found = std::ranges::find(included_, hash, &Included::hash);
    if (found == included_.end()) return error(-32'603, "Transaction confirmation timeout");
    return receipt_of(*found);
}

// Who signed it is worth finding out only where there are several.
std::optional<domain::Address> StubChain::sender_in(const domain::Bytes& raw) const {
    if (accounts_.size() == 1) return account_;
    const auto sender = evm::sender_of(raw);
    return sender && accounts_.contains(*sender) ? sender : std::nullopt;
}

void StubChain::mine_pool() {
    for (auto& [address, account] : accounts_) {
        Pool& pool = account.pool;
        for (auto next = pool.find(account.nonce); next != pool.end();
             next = pool.find(account.nonce)) {
            const auto [transaction, hash] = next->second;
            pool.erase(next);
            include(address, transaction, hash);
        }
    }
}

std::size_t StubChain::in_pool() const {
    std::size_t count = 0;
    for (const auto& [address, account] : accounts_) count += account.pool.size();
    return count;
}

StubChain::Block& StubChain::new_block() {
    Block block;
    for (const auto& [address, account] : accounts_) block.nonces_before[address] = account.nonce;
    block.seconds = block_time ? block_time() : std::uint64_t{1} << 32U;
    block.reference_before = next_reference_;
    block.hash = domain::keccak256(std::to_string(blocks_.size()) + "/" + std::to_string(forks_));
    blocks_.push_back(std::move(block));
    return blocks_.back();
}

void StubChain::include(const domain::Address& from, const evm::Transaction& transaction,
                        const domain::Bytes32& hash) {
    Block& block = new_block();
    ++accounts_.at(from).nonce;
    Included entry{transaction, hash, head(), true, {}, from};
    const Family family = family_of(transaction.data);
    if (family != Family::none && refuses && refuses(transaction.data, false)) {
        entry.succeeded = false;
    } else if (family != Family::none) {
        domain::Bytes32 reference = number_word(next_reference_++);
        domain::Bytes32 topic = evm::topic::verify_proof_request;
        if (family == Family::pub) {
            reference[0] = 1;
            topic = evm::topic::public_decryption_request_old;
        } else if (family == Family::user) {
            reference[0] = 2;
            topic = evm::topic::user_decryption_request;
        }
        entry.reference = reference;
        evm::Log log;
        log.address = contract_;
        log.topics = {topic, reference};
        log.block_number = head();
        log.block_hash = block.hash;
        block.logs.push_back(std::move(log));
    }
    included_.push_back(std::move(entry));
}

void StubChain::mine(std::uint64_t blocks) {
    for (std::uint64_t i = 0; i < blocks; ++i) new_block();
}

void StubChain::use_nonce_elsewhere() {
    new_block();
    ++account_nonce();
}

void StubChain::lose_blocks(std::uint64_t blocks) {
    ++forks_;
    for (; blocks > 0 && blocks_.size() > 1; --blocks) {
        for (const auto& [address, nonce] : blocks_.back().nonces_before) {
            accounts_.at(address).nonce = nonce;
        }
        next_reference_ = blocks_.back().reference_before;
        blocks_.pop_back();
    }
    std::erase_if(included_, [&](const Included& entry) { return entry.block > head(); });
    answered_ = std::min(answered_, included_.size());
}

void StubChain::reorganise(std::uint64_t blocks, bool keeps_transactions) {
    const std::uint64_t height = head();
    std::vector<Included> gone;
    for (const Included& entry : included_) {
        if (entry.block + blocks > height) gone.push_back(entry);
    }
    lose_blocks(blocks);
    for (const Included& entry : gone) {
        if (!keeps_transactions) continue;
        accounts_.at(entry.from)
            .pool.insert_or_assign(entry.transaction.nonce,
                                   std::pair{entry.transaction, entry.hash});
    }
    mine(height - head());
}

void StubChain::ask_elsewhere() {
    new_block();
    ++next_reference_;
}

void StubChain::answer(const domain::Bytes32& reference, const domain::Bytes32& topic,
                       domain::Bytes data) {
    Block& block = new_block();
    evm::Log log;
    log.address = contract_;
    log.topics = {topic, reference};
    log.data = std::move(data);
    log.block_number = head();
    log.block_hash = block.hash;
    block.logs.push_back(std::move(log));
}

void StubChain::share(const domain::Bytes32& reference, std::uint32_t index,
                      const domain::Bytes& extra_data, bool reaches_threshold) {
    evm::abi::Tuple data;
    data.add(std::uint64_t{index})
        .add_bytes(domain::Bytes(8, static_cast<std::uint8_t>(index)))
        .add_bytes(domain::Bytes(65, 3))
        .add_bytes(extra_data);
    answer(reference, evm::topic::user_decryption_response, data.encoded());
    if (!reaches_threshold) return;
    evm::Log reached = blocks_.back().logs.back();
    reached.topics.front() = evm::topic::threshold_reached;
    reached.data.clear();
    reached.index = 1;
    blocks_.back().logs.push_back(std::move(reached));
}

void StubChain::answer_all(std::uint32_t shares) {
    const domain::Bytes no_extra{0};
    for (; answered_ < included_.size(); ++answered_) {
        const Included& entry = included_[answered_];
        if (!entry.reference) continue;
        const domain::Bytes32 reference = *entry.reference;
        const Family family = family_of(entry.transaction.data);
        evm::abi::Tuple signatures;
        signatures.add_bytes(domain::Bytes(65, 7));
        if (family == Family::input) {
            evm::abi::Tuple handles;
            handles.add(domain::keccak256(domain::ByteView{reference}));
            evm::abi::Tuple data;
            data.add_list(1, handles).add_list(1, signatures);
            answer(reference, evm::topic::verify_proof_response, data.encoded());
        } else if (family == Family::pub) {
            evm::abi::Tuple data;
            data.add_bytes(domain::Bytes(32, 42)).add_list(1, signatures).add_bytes(no_extra);
            answer(reference, evm::topic::public_decryption_response, data.encoded());
        } else {
            for (std::uint32_t index = 0; index < shares; ++index) {
                evm::abi::Tuple data;
                data.add(std::uint64_t{index})
                    .add_bytes(domain::Bytes(8, 9))
                    .add_bytes(domain::Bytes(65, 3))
                    .add_bytes(no_extra);
                answer(reference, evm::topic::user_decryption_response, data.encoded());
            }
        }
    }
}

jsonrpc::Answer StubChain::read_logs(const Json& filter) const {
    const auto from = jsonrpc::quantity(filter.at("fromBlock"));
    const auto to = jsonrpc::quantity(filter.at("toBlock"));
    if (!from || !to || *to > head()) return error(-32'602, "block range is out of range");
    Json logs = Json::array();
    for (std::uint64_t number = *from; number <= *to; ++number) {
        for (const evm::Log& log : blocks_[number].logs) {
            const Json& wanted = filter.at("topics")[0];
            const std::string topic = jsonrpc::hex(log.topics[0]);
            if (std::ranges::find(wanted, Json(topic)) == wanted.end()) continue;
            const auto sent = std::ranges::find(included_, number, &Included::block);
            logs.push_back(
                log_json(log, sent == included_.end() ? number_word(number) : sent->hash));
        }
    }
    return logs;
}

Json StubChain::log_json(const evm::Log& log, const domain::Bytes32& hash) {
    Json topics = Json::array();
    for (const domain::Bytes32& topic : log.topics) topics.push_back(jsonrpc::hex(topic));
    return {{"address", jsonrpc::hex(log.address)},
            {"topics", topics},
            {"data", jsonrpc::hex(log.data)},
            {"blockNumber", jsonrpc::hex_quantity(log.block_number)},
            {"blockHash", jsonrpc::hex(log.block_hash)},
            {"transactionHash", jsonrpc::hex(hash)},
            {"transactionIndex", "0x0"},
            {"logIndex", jsonrpc::hex_quantity(log.index)},
            {"removed", false}};
}

Json StubChain::receipt_of(const Included& entry) const {
    Json logs = Json::array();
    for (const evm::Log& log : blocks_[entry.block].logs) {
        if (entry.reference && log.topics[1] == *entry.reference) {
            logs.push_back(log_json(log, entry.hash));
        }
    }
    return {{"transactionHash", jsonrpc::hex(entry.hash)},
            {"hash", jsonrpc::hex(entry.hash)},
            {"from", jsonrpc::hex(entry.from)},
            {"nonce", jsonrpc::hex_quantity(entry.transaction.nonce)},
            {"status", entry.succeeded ? "0x1" : "0x0"},
            {"blockNumber", jsonrpc::hex_quantity(entry.block)},
            {"blockHash", jsonrpc::hex(blocks_[entry.block].hash)},
            {"logs", logs}};
}

std::map<domain::Bytes, int> StubChain::inclusions() const {
    std::map<domain::Bytes, int> counts;
    for (const Included& entry : included_) {
        if (entry.succeeded && !entry.transaction.data.empty()) ++counts[entry.transaction.data];
    }
    return counts;
}

}  // namespace support
