#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/application.hpp"
#include "api/client.hpp"
#include "api/doubles.hpp"
#include "api/http_server.hpp"
#include "support/virtual_time.hpp"

namespace api_test {

// The application between doubles, with the chain and the contract of the samples, behind the real
// HTTP server: every call goes through a socket. Doubles may be changed between two calls.
class Harness {
public:
    Harness() = default;
    explicit Harness(api::Options given, api::HttpOptions http = {})
        : options(std::move(given)), http_options(std::move(http)) {}

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
    api::HttpOptions http_options;
    MemoryIntake intake;
    ScriptedInquiry inquiry;
    ScriptedRounds rounds;
    ScriptedContracts contracts;
    FixedHealth health;
    support::VirtualClock clock;
    support::SeededRandom random{1};
    support::RecordingJournal journal;
    api::Application app{options, intake, inquiry, rounds, contracts,
                         health,  clock,  random,  journal};
    api::HttpServer server{on_any_port(http_options), app};
    Client client{started(server)};

private:
    static api::HttpOptions on_any_port(api::HttpOptions http) {
        http.port = 0;
        http.workers = 1;
        return http;
    }
    static int started(api::HttpServer& server) {
        server.start();
        return server.port();
    }
};

}  // namespace api_test
