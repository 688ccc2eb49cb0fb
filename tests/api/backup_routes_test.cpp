// /admin/backup: what a running process may be told to write to.

#include "api/admin/backup_routes.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using api::admin::BackupOrder;
using api::admin::BackupState;

class RecordingBackups : public api::admin::BackupControl {
public:
    std::optional<Refusal> begin(const BackupOrder& order) override {
        begun.push_back(order);
        return std::nullopt;
    }
    void cancel() override {}
    [[nodiscard]] BackupState state() const override { return {}; }

    std::vector<BackupOrder> begun;
};

net::HttpResponse post(api::admin::BackupControl& backups, const std::string& body) {
    net::HttpRequest request;
    request.method = "POST";
    request.path = "/admin/backup";
    request.body = body;
    std::optional<net::HttpResponse> answer;
    api::admin::backup_routes(backups).front().answer(
        request, [&](net::HttpResponse response) { answer = std::move(response); });
    return answer.value();
}

}  // namespace

TEST_CASE("a backup is told by an absolute path, as its body says it") {
    RecordingBackups backups;
    const BackupOrder order{"/backups/täglich 1", "/keys/one", 4096};
    CHECK(post(backups, api::admin::backup_body(order)).status == 202);
    REQUIRE(backups.begun.size() == 1);
    CHECK(backups.begun[0].file == order.file);
    CHECK(backups.begun[0].key_file == order.key_file);
    CHECK(backups.begun[0].wal_bytes_max == order.wal_bytes_max);
}

TEST_CASE("a path that is none, or would be another one, is refused by its member") {
    RecordingBackups backups;
    for (const std::string path : {R"("backup")", R"("")", R"("/a/\u0000b")", R"("/a/\nb")", "7"}) {
        CAPTURE(path);
        for (const std::string member : {"file", "key_file"}) {
            const auto answer = post(backups, "{\"" + member + "\":" + path + "}");
            CHECK(answer.status == 400);
            CHECK(nlohmann::json::parse(answer.body).at("error") ==
                  "`" + member + "` must be an absolute path without control characters");
        }
    }
    CHECK(post(backups, "{\"file\":\"/a\xe9\"}").status == 400);
    CHECK(backups.begun.empty());
    CHECK(api::admin::is_told_path("/a b/ü"));
    CHECK_FALSE(api::admin::is_told_path("/a\xe9"));
}
