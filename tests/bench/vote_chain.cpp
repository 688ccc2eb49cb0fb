#include "bench/vote_chain.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/base64.hpp"
#include "chains/votes/tree/commitment_tree.hpp"
#include "domain/bytes.hpp"

namespace bench {

namespace {

using chains::votes::tree::CommitmentTree;
using chains::votes::tree::PallasField;
using nlohmann::json;

constexpr std::size_t threads = 128;  // a connection keeps a thread
constexpr time_t idle_seconds_max = 600;
constexpr std::uint64_t height = 1;  // all leaves came with the first block
constexpr std::uint64_t vote_end = 4'102'444'800;
constexpr std::string_view root = "/shielded-vote/v1";

std::string base64_of(domain::ByteView bytes) {
    return base::to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string round_of(const Body& share) {
    return json::parse(share.text()).at("vote_round_id").get<std::string>();
}

std::string described_round(const std::string& round) {
    domain::Bytes32 id{};
    if (!domain::from_hex(round, id)) throw std::runtime_error("the sample's round is no id");
    return json{{"round",
                 {{"vote_round_id", base64_of(id)},
                  {"vote_end_time", vote_end},
                  {"status", 1},
                  {"created_at_height", height}}}}
        .dump();
}

struct Described {
    std::string tree;
    std::string leaves;
};

Described described_tree(std::uint64_t count) {
    CommitmentTree tree;
    std::vector<PallasField> leaves;
    for (std::uint64_t leaf = 0; leaf < count; ++leaf) leaves.push_back(PallasField::from(leaf));
    if (!tree.append(leaves)) throw std::runtime_error("too many leaves for a tree");
    json texts = json::array();
    for (std::uint64_t leaf = 0; leaf < count; ++leaf) texts.push_back(base64_of(*tree.leaf(leaf)));
    return {
        json{
            {"tree", {{"next_index", count}, {"root", base64_of(tree.root())}, {"height", height}}}}
            .dump(),
        json{{"blocks", json::array({{{"height", height}, {"start_index", 0}, {"leaves", texts}}})}}
            .dump()};
}

// What a base64 member of a JSON object says; parsing megabytes of proofs would be the limit here.
std::string text_in(const std::string& body, std::string_view member) {
    const std::string begin = "\"" + std::string(member) + "\":\"";
    const std::size_t at = body.find(begin);
    if (at == std::string::npos) return {};
    return body.substr(at + begin.size(), body.find('"', at + begin.size()) - at - begin.size());
}

}  // namespace

VoteChain::VoteChain(const Body& share, std::uint64_t leaves) {
    const std::string round = round_of(share);
    const std::string of_round = described_round(round);
    const Described tree = described_tree(leaves);
    const auto serve = [this](const std::string& path, const std::string& text) {
        server_.Get(std::string(root) + path,
                    [text](const httplib::Request&, httplib::Response& response) {
                        response.set_content(text, "application/json");
                    });
    };
    serve("/round/" + round, of_round);
    serve("/rounds/active", of_round);
    serve("/commitment-tree/" + round + "/latest", tree.tree);
    serve("/commitment-tree/" + round + "/leaves", tree.leaves);
    server_.Post(std::string(root) + "/reveal-share",
                 [this](const httplib::Request& request, httplib::Response& response) {
                     take(request, response);
                 });
    server_.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    server_.set_tcp_nodelay(true);
    server_.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
    server_.set_keep_alive_timeout(idle_seconds_max);
    port_ = server_.bind_to_any_port("127.0.0.1");
    if (port_ <= 0) throw std::runtime_error("the vote chain can not listen");
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
}

VoteChain::~VoteChain() {
    server_.stop();
}

void VoteChain::put_into(Settings& settings) const {
    settings["helper.chain_url"] = "\"http://127.0.0.1:" + std::to_string(port_) + '"';
    settings["helper.prover.type"] = R"("loopback")";
    settings["helper.max_concurrent_proofs"] = std::to_string(threads / 2);
    settings["engine.workers"] = std::to_string(threads / 4);
}

VoteChain::Reveals VoteChain::reveals() const {
    const std::lock_guard lock(mutex_);
    return {nullifiers_.size(), repeated_};
}

void VoteChain::take(const httplib::Request& request, httplib::Response& response) {
    const std::string nullifier = text_in(request.body, "share_nullifier");
    if (nullifier.empty()) throw std::runtime_error("a reveal without a nullifier");
    {
        const std::lock_guard lock(mutex_);
        if (!nullifiers_.insert(nullifier).second) ++repeated_;
    }
    response.set_content(R"({"tx_hash":"AA","code":0,"log":""})", "application/json");
}

}  // namespace bench
