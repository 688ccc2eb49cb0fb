// A head is judged once: what was found out goes with the request.

#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>

#include "api/access/key_store.hpp"
#include "api/harness.hpp"
#include "api/router.hpp"
#include "api/samples.hpp"
#include "support/temp_directory.hpp"

namespace head_ticket {

std::atomic<int> route_look_ups{0};
std::atomic<int> keys_hashed{0};

}  // namespace head_ticket

// The linker leads every call of these two here (`--wrap` in meson.build): api::find_route and
// api::access::KeyStore::find, which hashes the key it is given.
#define FIND_ROUTE(prefix) prefix##_ZN3api10find_routeESt17basic_string_viewIcSt11char_traitsIcEES3_
#define FIND_KEY(prefix) \
    prefix##_ZNK3api6access8KeyStore4findESt17basic_string_viewIcSt11char_traitsIcEE

extern "C" {
using FoundRoute = std::optional<api::RouteMatch>;
using FoundKey = std::shared_ptr<const api::access::ClientKey>;

FoundRoute FIND_ROUTE(__real_)(std::string_view method, std::string_view path);
FoundRoute FIND_ROUTE(__wrap_)(std::string_view method, std::string_view path) {
    ++head_ticket::route_look_ups;
    return FIND_ROUTE(__real_)(method, path);
}
FoundKey FIND_KEY(__real_)(const api::access::KeyStore* keys, std::string_view key);
FoundKey FIND_KEY(__wrap_)(const api::access::KeyStore* keys, std::string_view key) {
    FoundKey found = FIND_KEY(__real_)(keys, key);
    ++head_ticket::keys_hashed;
    return found;
}
}

namespace head_ticket {

using api_test::Answer;
using api_test::Call;
using api_test::Harness;

const std::string key = "web-0123456789abcdef";
const std::string proof_path = "/v2/input-proof";

class Keys {
public:
    Keys() { write("web " + key + "\n"); }
    void write(const std::string& text) const {
        std::ofstream(path()) << text;
        REQUIRE(::chmod(path().c_str(), 0600) == 0);
    }
    [[nodiscard]] std::string path() const { return (directory_.path() / "keys").string(); }
    [[nodiscard]] api::Options options() const {
        api::Options options;
        options.access.client_keys_file = options.access.share_tokens_file = path();
        return options;
    }

private:
    support::TempDirectory directory_;
};

TEST_CASE("a request costs one look at the routes and one hash of its key") {
    const Keys keys;
    Harness harness(keys.options());
    const std::string proof = api_test::sample("input-proof-1-value.json");
    const std::string share = api_test::sample("vote-share.json");
    const std::string job = proof_path + "/0197a7f0-0000-7000-8000-000000000001";
    struct Row {
        Call call;
        int status;
        int hashed;
    };
    const Row rows[] = {
        {{"POST", proof_path, proof, {{"x-api-key", key}}}, 202, 1},
        {{"POST", proof_path, proof, {{"cookie", "x-api-key=" + key}}}, 400, 1},
        {{"POST", proof_path, proof, {{"x-api-key", "wrong-0123456789abcdef"}}}, 401, 1},
        {{"POST", proof_path, proof, {}}, 401, 0},
        {{"GET", job, {}, {{"authorization", "Bearer " + key}}}, 404, 1},
        {{"POST", "/shielded-vote/v1/shares", share, {{"X-Helper-Token", key}}}, 200, 1},
        {{"GET", "/liveness", {}, {{"x-api-key", key}}}, 200, 0},
        {{"GET", "/nowhere", {}, {{"x-api-key", key}}}, 404, 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.call.path);
        CAPTURE(row.status);
        route_look_ups = keys_hashed = 0;
        CHECK(harness.send(row.call).status == row.status);
        CHECK(route_look_ups == 1);
        CHECK(keys_hashed == row.hashed);
    }
}

TEST_CASE("a key that is taken away between head and body opens nothing") {
    struct Row {
        std::string path;
        std::string header;
        std::string file;
    };
    for (const Row& row : {Row{proof_path, "x-api-key", "input-proof-1-value.json"},
                           Row{"/shielded-vote/v1/shares", "X-Helper-Token", "vote-share.json"}}) {
        CAPTURE(row.path);
        const Keys keys;
        Harness harness(keys.options());
        const std::string body = api_test::sample(row.file);
        route_look_ups = keys_hashed = 0;
        harness.client.send("POST " + row.path + " HTTP/1.1\r\nHost: localhost\r\n" + row.header +
                            ": " + key + "\r\nContent-Length: " + std::to_string(body.size()) +
                            "\r\n\r\n");
        while (keys_hashed == 0) std::this_thread::yield();

        keys.write("other other-0123456789abcdef\n");
        for (api::access::KeyStore& ring : harness.authenticator.reloadable()) {
            CHECK_FALSE(ring.reload());
        }
        harness.client.send(body);
        const Answer answer = harness.client.take();
        CHECK(answer.status == 401);
        CHECK(harness.submitter.requests.empty());
        CHECK(route_look_ups == 1);
        CHECK(keys_hashed == 1);
    }
}

}  // namespace head_ticket
