#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/application.hpp"
#include "api/client.hpp"
#include "api/doubles.hpp"
#include "net/http_server.hpp"
#include "support/virtual_time.hpp"

namespace api_test {

inline const std::string proof_path = "/v2/input-proof";
inline const std::string share_base = "/shielded-vote/v1/";
inline const std::string share_path = share_base + "shares";
// Of the round in the samples of shares.
inline const std::string round_id =
    "0a6fb635439fb6850c775a291f639975bd239745ed43dba2a9f220d707e9b55c";
// As one is given out.
inline const std::string job_id = domain::to_string(domain::RequestId{0x0198'7654'3210'123, 77});

// The head of a call as the application sees it; views into `call`.
inline net::HttpRequest head_of(const Call& call) {
    net::HttpRequest request;
    request.method = call.method;
    request.target = call.path;
    request.path = call.path;
    for (const auto& [name, value] : call.headers) request.headers.push_back({name, value});
    return request;
}

// Which ports of the vote chain are there beside its rounds.
struct VotePorts {
    bool trees = false;
    bool nullifiers = false;
    bool commitments = false;
};

// The application between doubles, with the chain and the contract of the samples, behind the real
// HTTP server: every call goes through a socket. Doubles may be changed between two calls.
class Harness {
public:
    Harness() = default;
    explicit Harness(api::Options given, net::HttpOptions http = {}, VotePorts votes = {})
        : options(std::move(given)), http_options(std::move(http)), vote_ports(votes) {}

    // On the one connection of the harness.
    Answer send(const Call& call) { return client.ask(call); }
    Answer post(std::string_view path, std::string_view body) {
        return send({"POST", std::string(path), std::string(body)});
    }
    Answer get(std::string_view path) { return send({"GET", std::string(path), {}, {}}); }

    // These bytes and no more, on a connection of their own; `end`: and says that it is all.
    Answer exchange(std::string_view bytes, bool end = false) {
        Client own(server.port());
        own.send(bytes);
        if (end) own.finish_sending();
        return own.take();
    }

    api::Options options;
    net::HttpOptions http_options;
    VotePorts vote_ports;
    MemorySubmitter submitter;
    ScriptedReader request_reader;
    ScriptedRounds rounds;
    ScriptedTrees trees;
    ScriptedNullifiers nullifiers;
    ScriptedCommitments commitments;
    SubmitterQueue queue{submitter};
    ScriptedExecutor executor;  // of shares that come in
    ScriptedExecutor queries;
    ScriptedExecutor contract_lookups;
    ScriptedContracts contracts;
    FixedHealth health;
    FixedKeys keys;
    support::VirtualClock clock;
    support::SeededRandom random{1};
    support::RecordingLogger logger;
    // Counts by client.
    struct Observer : api::HttpObserver {
        explicit Observer(api::ClientTraffic& all) : traffic(all) {}
        void submitted(std::int64_t client, api::Submission submission) override {
            traffic.count(client, submission);
        }
        api::ClientTraffic& traffic;
    };
    api::ClientTraffic traffic{clock};
    Observer observer{traffic};
    api::LongPolls long_polls{clock, 4};
    api::access::Authenticator authenticator{options.access, clock};
    api::Application app{options,
                         {submitter, request_reader, votes(), contracts, health, keys, clock,
                          random, logger, long_polls, observer, authenticator, executor, queries,
                          queries, contract_lookups, &queue}};
    net::HttpServer server{on_any_port(http_options), app};
    Client client{started(server)};

private:
    engine::VoteChain votes() {
        return {rounds, vote_ports.trees ? &trees : nullptr,
                vote_ports.nullifiers ? &nullifiers : nullptr,
                vote_ports.commitments ? &commitments : nullptr};
    }
    static net::HttpOptions on_any_port(net::HttpOptions http) {
        http.port = 0;
        http.workers = 1;
        return http;
    }
    static int started(net::HttpServer& server) {
        server.start();
        return server.port();
    }
};

}  // namespace api_test
