#include "chains/evm/receipt.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/golden.hpp"

using namespace chains::evm;
using chains::jsonrpc::Json;

namespace {

std::string word(char digit) {
    return "0x" + std::string(64, digit);
}

Json log() {
    return {{"address", "0x" + std::string(40, '1')},
            {"topics", {word('a'), word('b')}},
            {"data", "0xcafe"},
            {"blockNumber", "0x10"},
            {"blockHash", word('c')},
            {"transactionHash", word('d')},
            {"transactionIndex", "0x0"},
            {"logIndex", "0x2"},
            {"removed", false},
            {"blockTimestamp", "0x6553f100"}};
}

Json receipt() {
    return {{"transactionHash", word('d')}, {"status", "0x1"},
            {"blockNumber", "0x10"},        {"blockHash", word('c')},
            {"logs", Json::array({log()})}, {"gasUsedForL1", "0x0"},
            {"gasUsed", "0x5208"},          {"effectiveGasPrice", "0x3b9aca07"},
            {"l1BlockNumber", "0x99"},      {"timeboosted", true},
            {"contractAddress", nullptr}};
}

// Values that none of the needed members may have.
std::vector<Json> nonsense() {
    return {Json(),
            Json(16),
            Json(-1),
            Json(1e300),
            Json(""),
            Json("0x"),
            Json("0x1g"),
            Json("0xa bc"),
            Json(true),
            Json::object(),
            Json::array({1}),
            Json::array({"0x1"}),
            Json("0x" + std::string(100'001, 'f'))};
}

}  // namespace

TEST_CASE("a log") {
    const auto read = decode_log(log());
    REQUIRE(read);
    CHECK(read->address == golden::filled(0x11));
    REQUIRE(read->topics.size() == 2);
    CHECK(read->topics[1][31] == 0xbb);
    CHECK(read->data == golden::hex("cafe"));
    CHECK(read->block_number == 16);
    CHECK(read->block_hash[0] == 0xcc);
    CHECK(read->index == 2);
    CHECK_FALSE(read->removed);
}

TEST_CASE("a log may be removed, and need not say so") {
    Json value = log();
    value["removed"] = true;
    CHECK(decode_log(value)->removed);
    value["removed"] = nullptr;
    CHECK_FALSE(decode_log(value)->removed);
    value.erase("removed");
    CHECK_FALSE(decode_log(value)->removed);
    value["removed"] = "false";
    CHECK_FALSE(decode_log(value));
}

TEST_CASE("a log has up to four topics and any data") {
    Json value = log();
    for (std::size_t count = 0; count <= 5; ++count) {
        CAPTURE(count);
        value["topics"] = Json(std::vector<std::string>(count, word('a')));
        CHECK(decode_log(value).has_value() == (count <= 4));
    }
    value = log();
    value["topics"][1] = word('b') + "b";
    CHECK_FALSE(decode_log(value));
    value["topics"][1] = nullptr;
    CHECK_FALSE(decode_log(value));
    value = log();
    value["data"] = "0x";
    CHECK(decode_log(value)->data.empty());
}

TEST_CASE("a log without a needed member, or with nonsense there, is refused") {
    for (const char* name : {"address", "topics", "data", "blockNumber", "blockHash", "logIndex"}) {
        CAPTURE(std::string{name});
        Json value = log();
        value.erase(name);
        CHECK_FALSE(decode_log(value));
        for (const Json& wrong : nonsense()) {
            if (name == std::string_view{"data"} && wrong == "0x") continue;
            CAPTURE(wrong.dump().substr(0, 50));
            value = log();
            value[name] = wrong;
            CHECK_FALSE(decode_log(value));
        }
    }
    for (const char* name : {"address", "data", "blockHash"}) {
        CAPTURE(std::string{name});
        Json value = log();
        value[name] = "0xabc";  // an odd number of digits
        CHECK_FALSE(decode_log(value));
    }
    for (const Json& wrong : nonsense()) CHECK_FALSE(decode_log(wrong));
}

TEST_CASE("a pending log is refused") {
    Json value = log();
    value["blockNumber"] = nullptr;
    value["blockHash"] = nullptr;
    CHECK_FALSE(decode_log(value));
}

TEST_CASE("a receipt") {
    const auto read = decode_receipt(receipt());
    REQUIRE(read);
    CHECK(read->hash[0] == 0xdd);
    CHECK(read->succeeded);
    CHECK(read->block_number == 16);
    CHECK(read->block_hash[0] == 0xcc);
    REQUIRE(read->logs.size() == 1);
    CHECK(read->logs[0].index == 2);
    CHECK(read->gas_used == 21'000);
    CHECK(read->gas_price == 1'000'000'007);

    Json failed = receipt();
    failed["status"] = "0x0";
    failed["logs"] = Json::array();
    REQUIRE(decode_receipt(failed));
    CHECK_FALSE(decode_receipt(failed)->succeeded);
    CHECK(decode_receipt(failed)->logs.empty());
    failed["status"] = "0x2";
    CHECK_FALSE(decode_receipt(failed));
}

TEST_CASE("a receipt without a needed member, or with nonsense there, is refused") {
    for (const char* name : {"transactionHash", "status", "blockNumber", "blockHash", "logs"}) {
        CAPTURE(std::string{name});
        Json value = receipt();
        value.erase(name);
        CHECK_FALSE(decode_receipt(value));
        for (const Json& wrong : nonsense()) {
            CAPTURE(wrong.dump().substr(0, 50));
            value = receipt();
            value[name] = wrong;
            CHECK_FALSE(decode_receipt(value));
        }
    }
    for (const Json& wrong : nonsense()) CHECK_FALSE(decode_receipt(wrong));
    Json one_bad_log = receipt();
    one_bad_log["logs"].push_back(Json::object());
    CHECK_FALSE(decode_receipt(one_bad_log));
}

TEST_CASE("a receipt counts whatever it says was paid") {
    auto no_number = nonsense();
    no_number.emplace_back("0x8000000000000000");  // does not fit where it is stored
    for (const char* name : {"gasUsed", "effectiveGasPrice"}) {
        for (const Json& wrong : no_number) {
            CAPTURE(wrong.dump().substr(0, 50));
            Json value = receipt();
            value[name] = wrong;
            const auto read = decode_receipt(value);
            REQUIRE(read);
            const bool is_gas = std::string_view{name} == "gasUsed";
            CHECK_FALSE((is_gas ? read->gas_used : read->gas_price));
            CHECK((is_gas ? read->gas_price : read->gas_used));
        }
    }
}

TEST_CASE("a receipt with logs of another transaction or block is refused") {
    for (const char* member : {"transactionHash", "blockHash"}) {
        CAPTURE(member);
        Json other = receipt();
        other["logs"][0][member] = word('e');
        CHECK_FALSE(decode_receipt(other));
    }
    Json unsaid = receipt();
    unsaid["logs"][0].erase("transactionHash");
    CHECK(decode_receipt(unsaid));
}
