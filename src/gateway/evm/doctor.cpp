#include "gateway/evm/doctor.hpp"

#include <utility>

#include "gateway/evm/doctor_checks.hpp"

namespace gateway::evm {

using namespace doctor;

namespace {

// Gathers findings; knows which nodes answered.
class Examination {
public:
    Examination(const EvmOptions& options, Nodes& nodes, const Signer& signer,
                const engine::Clock& clock)
        : options_(options), nodes_(nodes), signer_(signer), clock_(clock) {}

    std::vector<Finding> run() {
        examine_write();
        examine_read();
        examine_listeners();
        examine_hosts();
        examine_protocol();
        return std::move(findings_);
    }

private:
    // Whether it is worth asking the node for more.
    bool reach(const std::string& subject, rpc::Node& node, std::optional<std::uint64_t> chain_id) {
        findings_.push_back(check_endpoint(subject, node, chain_id));
        return findings_.back().verdict == Finding::Verdict::ok;
    }

    void add(Finding finding) { findings_.push_back(std::move(finding)); }

    void not_checked(const std::string& what, const std::string& node) {
        add(warning(what, "not checked: see the " + node));
    }

    void examine_write() {
        rpc::Node& write = *nodes_.write;
        if (!reach("gateway write node", write, options_.chain_id)) {
            not_checked("gateway contracts, signer and clock", "gateway write node");
            return;
        }
        add(check_sync_send(write));
        add(check_code("decryption contract", write, options_.decryption));
        add(check_code("input verification contract", write, options_.input_verification));
        add(check_balance(write, signer_.address(), options_));
        add(check_nonce(write, signer_.address()));
        add(check_clock(write, clock_));
    }

    void examine_read() {
        if (!reach("gateway read node", *nodes_.read, options_.chain_id)) {
            not_checked("fees", "gateway read node");
            return;
        }
        for (Finding& finding : check_fees(*nodes_.read, signer_.address(), options_)) {
            add(std::move(finding));
        }
    }

    void examine_listeners() {
        if (nodes_.listeners.empty()) {
            add(failed("listeners", "none is configured: no answer would ever arrive"));
        }
        for (std::size_t i = 0; i < nodes_.listeners.size(); ++i) {
            const std::string subject = "listener " + std::to_string(i);
            rpc::Node& node = *nodes_.listeners[i];
            if (reach(subject, node, options_.chain_id)) {
                add(check_listener(subject + " logs", node, options_));
            }
        }
    }

    void examine_hosts() {
        for (const EvmOptions::HostChain& host : options_.host_chains) {
            const std::string subject = "host chain " + std::to_string(host.chain_id);
            const auto node = nodes_.hosts.find(host.chain_id);
            if (node == nodes_.hosts.end()) {
                add(failed(subject, "no node: give the chain a URL"));
            } else if (reach(subject + " node", *node->second, host.chain_id)) {
                add(check_code(subject + " access list", *node->second, host.acl));
            }
        }
    }

    void examine_protocol() {
        rpc::Node& protocol = *nodes_.protocol;
        if (!reach("protocol node", protocol, std::nullopt)) {
            not_checked("protocol contracts, key material and threshold", "protocol node");
            return;
        }
        add(check_code("protocol config contract", protocol, options_.protocol_config.address));
        if (findings_.back().verdict == Finding::Verdict::ok) {
            add(check_threshold(protocol, options_));
        }
        add(check_code("kms generation contract", protocol, options_.key_urls.kms_generation));
        if (findings_.back().verdict == Finding::Verdict::ok) {
            add(check_key_material(protocol, options_));
        }
    }

    const EvmOptions& options_;
    Nodes& nodes_;
    const Signer& signer_;
    const engine::Clock& clock_;
    std::vector<Finding> findings_;
};

}  // namespace

Finding check_endpoint(const std::string& subject, rpc::Node& node,
                       std::optional<std::uint64_t> chain_id) {
    const auto answer = ask_number(node, {"eth_chainId", rpc::Json::array()});
    if (const auto* problem = std::get_if<Problem>(&answer)) {
        return failed(subject,
                      problem->text + (problem->refused ? ": is it an Ethereum JSON-RPC node?"
                                                        : ": check its URL and that it runs"));
    }
    const std::uint64_t said = std::get<std::uint64_t>(answer);
    if (chain_id && said != *chain_id) {
        return failed(subject, "chain id is " + std::to_string(said) + ", the configuration says " +
                                   std::to_string(*chain_id) + ": correct the URL or the chain id");
    }
    return ok(subject, "answers, chain id " + std::to_string(said));
}

std::vector<Finding> diagnose(const EvmOptions& options, Nodes& nodes, const Signer& signer,
                              const engine::Clock& clock) {
    return Examination{options, nodes, signer, clock}.run();
}

}  // namespace gateway::evm
