#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/options.hpp"
#include "chains/evm/scripted_node.hpp"
#include "chains/jsonrpc/decode.hpp"
#include "domain/bytes.hpp"
#include "domain/keccak.hpp"
#include "engine/gateway.hpp"
#include "support/requests.hpp"

namespace support {

using chains::jsonrpc::Json;

inline domain::Bytes32 reference(std::uint64_t number) {
    domain::Bytes32 word{};
    for (std::size_t i = 0; i < 8; ++i) {
        word[31 - i] = static_cast<std::uint8_t>(number >> (8 * i));
    }
    return word;
}

inline std::uint64_t number_of(const domain::Bytes32& word) {
    std::uint64_t number = 0;
    for (std::size_t i = 24; i < 32; ++i) number = (number << 8U) | word[i];
    return number;
}

// A chain of which only blocks with events take room. A block's hash follows from its number and
// its fork.
class SimulatedChain {
public:
    std::uint64_t head = 0;

    [[nodiscard]] domain::Bytes32 hash(std::uint64_t number) const {
        const std::uint64_t fork = std::prev(forks_.upper_bound(number))->second;
        return domain::keccak256("block " + std::to_string(number) + " " + std::to_string(fork));
    }

    // RejectProofResponse with this reference, in a block of its own or in the last one.
    void answer(std::uint64_t reference) {
        ++head;
        answer_here(reference);
    }
    void answer_here(std::uint64_t reference) { answers_[head].push_back(reference); }

    void mine(std::uint64_t blocks = 1) { head += blocks; }

    // The last `depth` blocks become others, without answers. What was in them comes back.
    std::vector<std::uint64_t> reorganise(std::uint64_t depth) {
        const std::uint64_t from = head - depth + 1;
        forks_.erase(forks_.lower_bound(from), forks_.end());
        forks_[from] = ++fork_;
        return take_from(from);
    }

    // The chain loses its tail, without replacement.
    std::vector<std::uint64_t> cut(std::uint64_t new_head) {
        head = new_head;
        forks_.erase(forks_.lower_bound(head + 1), forks_.end());
        forks_[head + 1] = ++fork_;
        return take_from(head + 1);
    }

    // Another chain altogether.
    void reset(std::uint64_t new_head) {
        answers_.clear();
        forks_ = {{0, ++fork_}};
        head = new_head;
    }

    [[nodiscard]] std::multiset<std::uint64_t> answers() const {
        std::multiset<std::uint64_t> all;
        for (const auto& [block, references] : answers_) {
            all.insert(references.begin(), references.end());
        }
        return all;
    }

    [[nodiscard]] Json log(std::uint64_t block, std::size_t index, std::uint64_t reference) const {
        using chains::jsonrpc::hex;
        using chains::jsonrpc::hex_quantity;
        return {{"address", hex(address(0xdd))},
                {"topics",
                 Json::array({"0xe465e141fa8abd95ab7e0855543307f8506ab0170ef664420fb71ab7de0183de",
                              hex(support::reference(reference))})},
                {"data", "0x"},
                {"blockNumber", hex_quantity(block)},
                {"blockHash", hex(hash(block))},
                {"logIndex", hex_quantity(index)},
                {"transactionHash", hex(hash(block))},
                {"removed", false}};
    }

    [[nodiscard]] Json logs(std::uint64_t from, std::uint64_t to) const {
        Json list = Json::array();
        for (auto at = answers_.lower_bound(from); at != answers_.end() && at->first <= to; ++at) {
            for (std::size_t i = 0; i < at->second.size(); ++i) {
                list.push_back(log(at->first, i, at->second[i]));
            }
        }
        return list;
    }

private:
    std::vector<std::uint64_t> take_from(std::uint64_t block) {
        std::vector<std::uint64_t> taken;
        for (auto at = answers_.lower_bound(block); at != answers_.end(); ++at) {
            taken.insert(taken.end(), at->second.begin(), at->second.end());
        }
        answers_.erase(answers_.lower_bound(block), answers_.end());
        return taken;
    }

    std::map<std::uint64_t, std::vector<std::uint64_t>> answers_;
    std::map<std::uint64_t, std::uint64_t> forks_{{0, 0}};  // first block, fork
    std::uint64_t fork_ = 0;
};

// A node of that chain, which may lag behind and has limits.
class ChainNode : public ScriptedNode {
public:
    using Answer = chains::jsonrpc::Answer;

    explicit ChainNode(SimulatedChain& chain) : chain_(chain) {
        on["eth_blockNumber"] = [this](const Json&) -> Answer {
            return Json(chains::jsonrpc::hex_quantity(view()));
        };
        on["eth_getBlockByNumber"] = [this](const Json& params) -> Answer {
            const auto number = *chains::jsonrpc::quantity(params[0]);
            if (number > view()) return Json(nullptr);
            return Json{{"number", params[0]}, {"hash", chains::jsonrpc::hex(chain_.hash(number))}};
        };
        on["eth_getLogs"] = [this](const Json& params) { return logs(params[0]); };
    }

    std::optional<std::uint64_t> range_cap;
    chains::jsonrpc::NodeError over_cap{-32000, "block range is too wide", {}};
    // Asked once for each exchange: how far this node is behind the chain.
    std::function<std::uint64_t()> lag = [] { return std::uint64_t{0}; };
    // Before every call: what happens meanwhile. What it returns is the answer.
    std::function<std::optional<Answer>()> before = [] { return std::nullopt; };
    std::function<Json(Json)> distort = [](Json logs) { return logs; };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;

    [[nodiscard]] std::vector<Answer> call_all(const std::vector<Call>& all) override {
        lag_ = lag();
        std::vector<Answer> answers;
        for (const Call& one : all) {
            auto instead = before();
            std::vector<Answer> said = ScriptedNode::call_all({one});
            answers.push_back(instead ? *std::move(instead) : std::move(said[0]));
        }
        return answers;
    }

private:
    [[nodiscard]] std::uint64_t view() const { return chain_.head - std::min(chain_.head, lag_); }

    Answer logs(const Json& query) {
        const auto from = *chains::jsonrpc::quantity(query["fromBlock"]);
        const auto to = *chains::jsonrpc::quantity(query["toBlock"]);
        ranges.emplace_back(from, to);
        if (from > view())
            return chains::jsonrpc::NodeError{-32602, "block range out of range", {}};
        if (range_cap && to - from + 1 > *range_cap) return over_cap;
        return distort(chain_.logs(from, std::min(to, view())));
    }

    SimulatedChain& chain_;
    std::uint64_t lag_ = 0;
};

// The engine's side: what it was handed, and what of that is in its database.
class Applied : public engine::GatewayEvents {
public:
    void checked(std::vector<engine::Checked>) override {}
    void prepared(std::vector<engine::Prepared>) override {}
    void sent(std::vector<engine::Sent>) override {}
    void answered(engine::Answered event) override {
        delivered.push_back(event);
        waiting_.push_back(std::move(event));
    }
    [[nodiscard]] bool has_too_many_answers() override { return is_full; }

    // The first so many events are applied, each with its cursor.
    void commit(std::size_t events_max = SIZE_MAX) {
        const std::size_t count = std::min(events_max, waiting_.size());
        for (std::size_t i = 0; i < count; ++i) {
            for (const auto& answer : waiting_[i].answers) {
                answers.insert(number_of(answer.reference));
            }
            // The engine keeps the highest.
            const std::uint64_t before = cursor(waiting_[i].listener).value_or(0);
            if (waiting_[i].cursor > before || waiting_[i].went_back ||
                !cursor(waiting_[i].listener))
                cursors[waiting_[i].listener] = waiting_[i].cursor;
        }
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    void crash() { waiting_.clear(); }

    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
    [[nodiscard]] std::optional<std::uint64_t> cursor(const std::string& listener) const {
        const auto found = cursors.find(listener);
        if (found == cursors.end()) return std::nullopt;
        return found->second;
    }
    [[nodiscard]] std::vector<std::uint64_t> references() const {
        std::vector<std::uint64_t> all;
        for (const auto& event : delivered) {
            for (const auto& answer : event.answers) all.push_back(number_of(answer.reference));
        }
        return all;
    }

    std::vector<engine::Answered> delivered;
    std::multiset<std::uint64_t> answers;
    std::map<std::string, std::uint64_t> cursors;
    bool is_full = false;

private:
    std::vector<engine::Answered> waiting_;
};

inline chains::evm::Options listening_options() {
    chains::evm::Options options;
    options.chain_id = 654321;
    options.decryption = address(0xdd);
    options.input_verification = address(0xee);
    return options;
}

}  // namespace support
