#include "chains/evm/doctor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chains/evm/doctor_checks.hpp"

namespace chains::evm {

using namespace doctor;

namespace {

// Gathers findings; knows which nodes answered.
class Examination {
public:
    Examination(const Options& options, Nodes& nodes, const Probes& probes,
                const std::vector<Signer*>& signers, const ports::Clock& clock)
        : options_(options), nodes_(nodes), probes_(probes), signers_(signers), clock_(clock) {}

    std::vector<diagnosis::Finding> run() {
        for_each_signer([&](Signer& signer, std::size_t) {
            add(check_signing(signer, options_.chain_id, clock_));
            if (auto finding = check_credential(signer)) add(*std::move(finding));
        });
        examine_write();
        examine_read();
        examine_listeners();
        examine_hosts();
        examine_protocol();
        return std::move(findings_);
    }

private:
    // Whether it is worth asking the node for more.
    bool reach(const std::string& subject, jsonrpc::Node& node,
               std::optional<std::uint64_t> chain_id, const std::vector<std::string>& urls = {}) {
        add(check_endpoint(subject, node, chain_id));
        const bool reached = findings_.back().verdict == diagnosis::Finding::Verdict::ok;
        if (urls.size() > 1) reach_each(subject, urls, chain_id);
        return reached;
    }

    // One that stands in for another is missed on the day it is needed.
    void reach_each(const std::string& subject, const std::vector<std::string>& urls,
                    std::optional<std::uint64_t> chain_id) {
        for (std::size_t i = 0; i < urls.size(); ++i) {
            const auto node = probes_.node(urls[i]);
            add(check_endpoint(subject + ", URL " + std::to_string(i + 1), *node, chain_id));
        }
    }

    void add(diagnosis::Finding finding) { findings_.push_back(std::move(finding)); }

    // What is found says whose it is, where there are several.
    template <typename Check>
    void for_each_signer(Check check) {
        for (std::size_t i = 0; i < signers_.size(); ++i) {
            const std::size_t first = findings_.size();
            check(*signers_[i], i);
            if (signers_.size() == 1) return;
            for (std::size_t j = first; j < findings_.size(); ++j) {
                findings_[j].subject += " of signers[" + std::to_string(i) + "]";
            }
        }
    }

    void not_checked(const std::string& what, const std::string& node) {
        add(warning(what, "not checked: see the " + node));
    }

    void examine_write() {
        jsonrpc::Node& write = *nodes_.write;
        if (!reach("gateway write node", write, options_.chain_id, options_.write_urls)) {
            not_checked("gateway contracts, signer and clock", "gateway write node");
            return;
        }
        add(check_sync_send(write));
        add(check_contract("decryption contract", write, options_.decryption,
                           ContractKind::decryption));
        add(check_contract("input verification contract", write, options_.input_verification,
                           ContractKind::input_verification));
        for_each_signer([&](const Signer& signer, std::size_t index) {
            if (const auto self = signer.known_address()) {
                add(check_balance(write, *self, options_.keys()[index].low_balance));
                add(check_nonce(write, *self));
            } else {
                add(warning("signer", "not checked: see signing"));
            }
        });
        add(check_clock(write, clock_));
    }

    void examine_read() {
        const bool shared = options_.read_urls == options_.write_urls;
        if (!reach("gateway read node", *nodes_.read, options_.chain_id,
                   shared ? std::vector<std::string>{} : options_.read_urls)) {
            not_checked("fees", "gateway read node");
            return;
        }
        for_each_signer([&](const Signer& signer, std::size_t) {
            const auto self = signer.known_address();
            if (!self) {
                add(warning("fees", "not checked: see signing"));
                return;
            }
            for (diagnosis::Finding& finding : check_fees(*nodes_.read, *self, options_)) {
                add(std::move(finding));
            }
        });
    }

    void examine_listeners() {
        if (nodes_.listeners.empty()) {
            add(failed("listeners", "none is configured: no answer would ever arrive"));
        }
        for (std::size_t i = 0; i < nodes_.listeners.size(); ++i) {
            const std::string subject = "listener " + std::to_string(i);
            jsonrpc::Node& node = *nodes_.listeners[i];
            if (!reach(subject, node, options_.chain_id)) continue;
            add(check_listener(subject + " logs", node, options_));
            const Options::Listener& listener = options_.listening.listeners[i];
            if (listener.type == Options::Listener::Type::subscription) {
                examine_subscription(subject + " subscription", listener.url);
            }
        }
    }

    void examine_subscription(const std::string& subject, const std::string& url) {
        if (const auto problem = probes_.subscribe(url)) {
            add(warning(subject, "none (" + *problem + "): answers are found by polling only"));
        } else {
            add(ok(subject, "eth_subscribe works"));
        }
    }

    void examine_hosts() {
        for (const Options::HostChain& host : options_.host_chains) {
            const std::string subject = "host chain " + std::to_string(host.chain_id);
            const auto node = nodes_.hosts.find(host.chain_id);
            if (node == nodes_.hosts.end()) {
                add(failed(subject, "no node: give the chain a URL"));
            } else if (reach(subject + " node", *node->second, host.chain_id, host.urls)) {
                add(check_contract(subject + " access list", *node->second, host.acl,
                                   ContractKind::access_list));
            }
        }
    }

    void examine_protocol() {
        jsonrpc::Node& protocol = *nodes_.protocol;
        if (!reach("protocol node", protocol, std::nullopt, options_.protocol_config.urls)) {
            not_checked("protocol contracts, key material and threshold", "protocol node");
            return;
        }
        add(check_contract("protocol config contract", protocol, options_.protocol_config.address,
                           ContractKind::protocol_config));
        if (findings_.back().verdict != diagnosis::Finding::Verdict::failed) {
            add(check_threshold(protocol, options_));
        }
        add(check_contract("kms generation contract", protocol, options_.key_urls.kms_generation,
                           ContractKind::kms_generation));
        if (findings_.back().verdict != diagnosis::Finding::Verdict::failed) {
            add(check_key_material(protocol, options_));
        }
    }

    const Options options_;
    Nodes& nodes_;
    const Probes& probes_;
    const std::vector<Signer*> signers_;
    const ports::Clock& clock_;
    std::vector<diagnosis::Finding> findings_;
};

}  // namespace

std::vector<diagnosis::Finding> diagnose(const Options& options, Nodes& nodes, const Probes& probes,
                                         const std::vector<Signer*>& signers,
                                         const ports::Clock& clock) {
    return Examination{options, nodes, probes, signers, clock}.run();
}

}  // namespace chains::evm
