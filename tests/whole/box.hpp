#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "api/application.hpp"
#include "api/client.hpp"
#include "api/doubles.hpp"
#include "domain/request_id.hpp"
#include "engine/stored_rounds.hpp"
#include "net/http_server.hpp"
#include "support/world.hpp"

namespace whole {

using api_test::Answer;
using api_test::Call;
using api_test::Json;

// A post house in a box: the real store, processor, application and HTTP server, with a chain that
// does as it is told and a clock that moves when the test says so. Requests are bytes on a socket;
// the test's thread makes the steps of the processor while it waits for their answers.
class Box {
public:
    support::World world;
    api::Options options;  // read when the server starts: at the first call and after a restart
    api_test::ScriptedRounds rounds;  // what the chain says
    api_test::ScriptedContracts contracts;
    api_test::FixedKeys keys;

    Answer send(const Call& call) {
        api_test::Client& client = front().client;
        client.send(call);
        while (!client.is_answered(1)) step();
        return client.take();
    }
    Answer post(std::string_view path, std::string_view body) {
        return send({"POST", std::string(path), std::string(body)});
    }
    Answer get(std::string_view path) { return send({"GET", std::string(path), {}, {}}); }
    // `path` as it was posted to.
    Answer poll(std::string_view path, const std::string& job_id) {
        return get(std::string(path) + "/" + job_id);
    }

    // Polls as a client does, waiting what it is told, until the answer is no longer 202.
    Answer follow(std::string_view path, const std::string& job_id,
                  domain::Milliseconds patience = std::chrono::hours{2}) {
        const domain::Monotonic end = world.clock.monotonic() + patience;
        while (true) {
            Answer answer = poll(path, job_id);
            if (answer.status != 202) return answer;
            if (world.clock.monotonic() >= end) throw std::runtime_error("it never ends");
            run_for(std::chrono::seconds{std::stoi(answer.header("Retry-After"))});
        }
    }

    void run_for(domain::Nanoseconds time) { world.run_for(time); }
    // One step of the processor, if there is anything for it to do.
    void step() {
        if (!world.engine.process().inbox.is_empty()) world.engine.turn();
    }

    // kill -9, connections and all.
    void crash() {
        front_.reset();
        world.crash();
    }
    void restart() {
        crash();
        world.engine.start();
    }

    [[nodiscard]] int port() { return front().server.port(); }
    // Where a request is in its life, beside the HTTP interface.
    [[nodiscard]] static domain::RequestId id_of(const std::string& job_id) {
        return domain::parse_request_id(job_id).id;
    }
    [[nodiscard]] domain::Status status(const std::string& job_id) {
        return world.status(id_of(job_id));
    }
    [[nodiscard]] std::int64_t rows() { return world.number("select count(*) from request"); }

    // The chain includes everything and answers well, soon after.
    void answer_everything() {
        world.gateway.on_send = [this](const engine::SendOrder& order) {
            world.executor.run_after(domain::Milliseconds{10}, [this, order] {
                support::answer_well(world.gateway, order.id, order.kind);
            });
            return support::ScriptedGateway::receipt(order);
        };
    }

private:
    struct Front {
        explicit Front(Box& box)
            : stored_rounds(box.world.engine.process().reader, box.rounds),
              long_polls(box.world.clock, box.options.long_polls_max),
              authenticator(box.options.access, box.world.clock),
              app(box.options, ports_of(box, *this)),
              server({.port = 0, .workers = 2}, app),
              client(server.port()) {
            server.start();
        }

        static api::Ports ports_of(Box& box, Front& front) {
            engine::Service& service = box.world.engine.process().service;
            return {service,
                    service,
                    {front.stored_rounds},
                    box.contracts,
                    service,
                    box.keys,
                    box.world.clock,
                    box.world.engine.random,
                    box.world.engine.logger,
                    front.long_polls,
                    front.observer,
                    front.authenticator,
                    front.lookups,
                    front.lookups,
                    front.lookups,
                    front.lookups};
        }

        engine::StoredRounds stored_rounds;
        api::HttpObserver observer;
        api::LongPolls long_polls;
        api::access::Authenticator authenticator;
        api_test::ScriptedExecutor lookups;
        api::Application app;
        net::HttpServer server;
        api_test::Client client;
    };

    Front& front() {
        if (!front_) front_.emplace(*this);
        return *front_;
    }

    std::optional<Front> front_;
};

}  // namespace whole
