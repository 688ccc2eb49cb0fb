#include <doctest/doctest.h>

#include <string>

#include "chains/evm/http_harness.hpp"
#include "chains/evm/nodes.hpp"
#include "chains/evm/options.hpp"

namespace support {
namespace {

TEST_CASE("every role gets its node") {
    HttpStub stub(HttpStub::answering([](const StubRequest& request) {
        return http_result(request, request.head.substr(5, request.head.find(' ', 5) - 5));
    }));
    using Listener = chains::evm::Options::Listener;
    chains::evm::Options options;
    options.write_urls = {stub.url("127.0.0.1", "/write")};
    options.read_urls = {stub.url("127.0.0.1", "/read")};
    options.host_chains = {{5, {stub.url("127.0.0.1", "/five")}, {}},
                           {6, {stub.url("127.0.0.1", "/six")}, {}}};
    options.protocol_config.urls = {stub.url("127.0.0.1", "/protocol")};
    options.listening.listeners = {
        {Listener::Type::polling, stub.url("127.0.0.1", "/polled")},
        {Listener::Type::subscription, "ws" + stub.url("127.0.0.1", "/pushed").substr(4)}};
    const VirtualClock clock;
    const auto nodes = chains::evm::make_nodes(options, clock);
    CHECK(text_of(nodes.write->call(chain_id)) == "\"/write\"");
    CHECK(text_of(nodes.read->call(chain_id)) == "\"/read\"");
    CHECK(text_of(nodes.hosts.at(5)->call(chain_id)) == "\"/five\"");
    CHECK(text_of(nodes.hosts.at(6)->call(chain_id)) == "\"/six\"");
    CHECK(text_of(nodes.protocol->call(chain_id)) == "\"/protocol\"");
    REQUIRE(nodes.listeners.size() == 2);
    CHECK(text_of(nodes.listeners.at(0)->call(chain_id)) == "\"/polled\"");
    CHECK(text_of(nodes.listeners.at(1)->call(chain_id)) == "\"/pushed\"");
}

}  // namespace
}  // namespace support
