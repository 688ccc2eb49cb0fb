#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"

namespace api_test {

// One member of a sample replaced, and what is to be said about it.
struct FieldRow {
    std::string member;  // dotted path
    Json value;
    std::vector<std::string> issues{};  // in order; none: the request is accepted
};
using FieldRows = std::vector<FieldRow>;

inline std::string characters(std::size_t count, char character = 'a') {
    return std::string(count, character);
}

inline const std::string not_extra_data =
    "Must be 0x00, or a versioned format: 0x01 + 32-byte contextId (0x07-tagged first byte), or "
    "0x02 + 32-byte contextId (0x07-tagged) + 32-byte epochId (0x08-tagged)";

// --- the rules of relayer-api 1.5 as rows for a member ------------------------------------------

inline FieldRows address_rows(const std::string& member) {
    return {
        {member, "0x" + characters(40)},
        {member, "0x" + characters(40, 'F')},
        {member, "", {"Must start with 0x"}},
        {member, characters(40), {"Must start with 0x"}},
        {member, "0X" + characters(40), {"Must start with 0x"}},
        {member, " 0x" + characters(39), {"Must start with 0x"}},
        {member, "0xfds", {"Must be 42 characters long"}},
        {member, "0x" + characters(39), {"Must be 42 characters long"}},
        {member, "0x" + characters(43), {"Must be 42 characters long"}},
        {member, "0x" + characters(43, 'z'), {"Must be 42 characters long"}},
        {member, "0x" + characters(39) + "z", {"Contains invalid hex characters"}},
        {member, "0xg" + characters(39), {"Contains invalid hex characters"}},
        {member, "0x" + characters(39) + "\u00e9", {"Contains invalid hex characters"}},
    };
}

inline FieldRows chain_rows(const std::string& member) {
    FieldRows rows{{member, 8009},
                   {member, "8009"},
                   {member, "0x1f49"},
                   {member, "0x1F49"},
                   {member, 0},
                   {member, 654321},  // the gateway's own: nobody compares it
                   {member, 18446744073709551615U},
                   {member, "18446744073709551615"},
                   {member, "0xffffffffffffffff"}};
    for (const Json& bad :
         {Json(""), Json("abc123"), Json("0xzzz"), Json("0x"), Json("0X1f49"), Json("-1"), Json(-1),
          Json("8009.0"), Json(8009.5), Json("1e3"), Json(" 8009"), Json("8009 "),
          Json("18446744073709551616"), Json("0x10000000000000000"), Json("8_009")}) {
        rows.push_back({member, bad, {"Must be decimal number or 0x hex string"}});
    }
    return rows;
}

inline FieldRows handle_rows(const std::string& member) {
    const std::string good = "0x84ad8128dedc45b21fec61f5c69988c584e2975330000000000000001f490500";
    return {
        {member, good},
        {member, "0x84AD8128DEDC45B21FEC61F5C69988C584E2975330000000000000001F490500"},
        {member, "", {"Must start with 0x"}},
        {member, good.substr(2), {"Must start with 0x"}},
        {member, "0X" + good.substr(2), {"Must start with 0x"}},
        {member, "0x", {"Must be 64 characters long"}},
        {member, good.substr(0, 64), {"Must be 64 characters long"}},
        {member, good + "00", {"Must be 64 characters long"}},
        {member, good + "0", {"Invalid hex string"}},
        {member, "0xabcdefabcdefs", {"Invalid hex string"}},
        {member, "0xabcdef1", {"Invalid hex string"}},
        {member, "0xabcdefg", {"Invalid hex string"}},
        {member, good.substr(0, 65) + "g", {"Invalid hex string"}},
    };
}

// XD (1.5.1)
inline FieldRows extra_data_rows(const std::string& member) {
    const std::string context = "07" + characters(62, '1');
    const std::string epoch = "08" + characters(62, '2');
    FieldRows rows{{member, "0x00"},
                   {member, "0x01" + context},
                   {member, "0x01" + std::string("07") + characters(62, 'F')},
                   {member, "0x02" + context + epoch}};
    for (const std::string& bad : {std::string(),
                                   std::string("0x"),
                                   std::string("00"),
                                   std::string("0X00"),
                                   std::string("0x0"),
                                   std::string("0x0000"),
                                   std::string("0x01"),
                                   std::string("invalid"),
                                   "0x01" + epoch,
                                   "0x01" + characters(64, '0'),
                                   "0x01" + context + "ff",
                                   "0x01" + context.substr(1),
                                   "0x01" + context.substr(2),
                                   "0X01" + context,
                                   "0x02" + context,
                                   "0x02" + context + context,
                                   "0x02" + epoch + epoch,
                                   "0x02" + context + epoch + "00",
                                   "0x03" + context,
                                   "0x03" + context + epoch,
                                   "0x01" + std::string("07") + characters(62, 'z')}) {
        rows.push_back({member, bad, {not_extra_data}});
    }
    return rows;
}

// LEN130, then HEX
inline FieldRows signature_rows(const std::string& member) {
    const std::string length = "Must be 130 characters long";
    return {
        {member, characters(130)},
        {member, characters(130, 'F')},
        {member, "", {length}},
        {member, characters(128), {length}},
        {member, characters(132), {length}},
        {member, "0x" + characters(128), {"Must not start with 0x"}},
        {member, "0x" + characters(130), {length, "Must not start with 0x"}},
        {member, characters(129) + "g", {"Invalid hex string"}},
        {member, characters(129), {length, "Invalid hex string"}},
        {member, "zz", {length, "Invalid hex string"}},
    };
}

// NONEMPTY(2), then HEX
inline FieldRows bare_key_rows(const std::string& member) {
    return {
        {member, "ab"},
        {member, "", {"Must not be empty"}},
        {member, "a", {"Must not be empty", "Invalid hex string"}},
        {member, "0x" + characters(64), {"Must not start with 0x"}},
        {member, "0x", {"Must not start with 0x"}},
        {member, "abc", {"Invalid hex string"}},
        {member, "abcg", {"Invalid hex string"}},
    };
}

// TS, at the time of the harness
inline FieldRows start_rows(const std::string& member) {
    const std::string no_number = "Value must be a valid U256 number";
    const std::string future = "Timestamp must not be in the future";
    return {
        {member, "0"},
        {member, "1780272000"},
        {member, "0x6a1ccb80"},
        {member, "0001780272000"},
        {member, "1780272001", {future}},
        {member, "0x6a1ccb81", {future}},
        {member, "18446744073709551616", {future}},
        {member,
         "115792089237316195423570985008687907853269984665640564039457584007913129639935",
         {future}},
        {member,
         "115792089237316195423570985008687907853269984665640564039457584007913129639936",
         {no_number}},
        {member, "0x1" + characters(64, '0'), {no_number}},
        {member, "", {no_number}},
        {member, "0x", {no_number}},
        {member, "soon", {no_number}},
        {member, "-1", {no_number}},
        {member, "1.5", {no_number}},
        {member, "1_000", {no_number}},
    };
}

inline FieldRows u32_rows(const std::string& member) {
    const std::string issue = "Value must be a valid u32 number";
    return {{member, "0"},
            {member, "7"},
            {member, "4294967295"},
            {member, "4294967296", {issue}},
            {member, "", {issue}},
            {member, "-1", {issue}},
            {member, "0x7", {issue}},
            {member, "7.0", {issue}},
            {member, "week", {issue}}};
}

// --- running them ------------------------------------------------------------------------------

// The member an issue is reported on: the outer one, never an index (1.5).
inline std::string reported_field(const std::string& member) {
    const std::size_t first = member.find('.');
    if (!member.starts_with("attestedPayload.")) return member.substr(0, first);
    return member.substr(0, member.find('.', first + 1));
}

inline std::string validation_message(const std::vector<std::string>& fields) {
    std::string message = "Validation failed for " + std::to_string(fields.size()) +
                          (fields.size() == 1 ? " field" : " fields") + " in the request: ";
    for (std::size_t i = 0; i < fields.size(); ++i) message += (i == 0 ? "" : ", ") + fields[i];
    return message;
}

struct Target {
    const char* path;
    const char* file;
};

inline void check_fields(Harness& harness, const Target& target, const FieldRows& rows) {
    for (const FieldRow& row : rows) {
        CAPTURE(row.member);
        CAPTURE(row.value.dump());
        const Answer answer =
            harness.post(target.path, sample_with(target.file, row.member, row.value));
        CAPTURE(answer.body);
        if (row.issues.empty()) {
            CHECK(answer.status == 202);
            continue;
        }
        const std::string field = reported_field(row.member);
        Json details = Json::array();
        for (const std::string& issue : row.issues) {
            details.push_back({{"field", field}, {"issue", issue}});
        }
        CHECK(answer.status == 400);
        CHECK(answer.text("/status") == "failed");
        CHECK_FALSE(answer.text("/requestId").empty());
        CHECK(answer.label() == "validation_failed");
        CHECK(answer.details() == details);
        CHECK(answer.message() ==
              validation_message(std::vector<std::string>(row.issues.size(), field)));
    }
}

// Each of these members of one object away, and each two of them: the first one is named.
inline void check_missing(Harness& harness, const Target& target, const std::string& object,
                          const std::vector<std::string>& members) {
    const auto path = [&](const std::string& name) {
        return object.empty() ? name : object + "." + name;
    };
    for (std::size_t i = 0; i < members.size(); ++i) {
        for (std::size_t j = i; j < members.size(); ++j) {
            CAPTURE(path(members[i]));
            CAPTURE(path(members[j]));
            Json drop{path(members[i])};
            if (j != i) drop.push_back(path(members[j]));
            const Answer answer =
                harness.post(target.path, body_of({{"base", target.file}, {"drop", drop}}));
            CHECK(answer.status == 400);
            CHECK(answer.label() == "missing_fields");
            CHECK(answer.message() == "Missing 1 required field in the request: " + members[i]);
            CHECK(answer.details() ==
                  Json{{{"field", members[i]}, {"issue", "Required but missing"}}});
            CHECK_FALSE(answer.text("/requestId").empty());
        }
    }
}

// Broken JSON of every sort, made of the sample (1.4).
inline void check_malformed(Harness& harness, const Target& target) {
    std::string good = Json::parse(sample(target.file)).dump();
    const std::string inside = good.substr(1, good.size() - 2);
    std::string no_comma = good;
    no_comma.replace(no_comma.find(",\""), 1, " ");
    const std::string first = good.substr(1, good.find(':'));
    struct Row {
        const char* label;
        std::string body;
    };
    const Row rows[] = {
        {"empty", ""},
        {"spaces", "  \r\n"},
        {"words", "not json"},
        {"unterminated object", good.substr(0, good.size() - 1)},
        {"missing comma", no_comma},
        {"missing colon", "{\"extraData\" \"0x00\"}"},
        {"trailing comma", "{" + inside + ",}"},
        {"trailing bytes", good + "x"},
        {"two documents", good + good},
        {"member twice", "{" + first + "\"1\"," + inside + "}"},
        {"unknown member twice", "{\"x\":1,\"x\":1," + inside + "}"},
        {"member twice inside an unknown one", "{\"x\":{\"y\":1,\"y\":2}," + inside + "}"},
        {"single quotes", "{'extraData':'0x00'}"},
        {"a comment", "/* */" + good},
        {"byte order mark", "\xEF\xBB\xBF" + good},
        {"not UTF-8", "{\"x\":\"\xC3\x28\"," + inside + "}"},
        {"lone surrogate", "{\"x\":\"\\ud800\"," + inside + "}"},
        {"NaN", "{\"x\":NaN," + inside + "}"},
        {"infinite", "{\"x\":1e999," + inside + "}"},
        {"leading zero", "{\"x\":01," + inside + "}"},
        {"a line break in a text", "{\"x\":\"\n\"," + inside + "}"},
    };
    for (const Row& row : rows) {
        CAPTURE(target.path);
        CAPTURE(row.label);
        const Answer answer = harness.post(target.path, row.body);
        CAPTURE(answer.body);
        CHECK(answer.status == 400);
        CHECK(answer.text("/status") == "failed");
        CHECK_FALSE(answer.text("/requestId").empty());
        CHECK(answer.label() == "malformed_json");
        CHECK(answer.message() == "Invalid JSON format");
        CHECK(answer.details().is_null());
        CHECK(answer.text("/error/hint").find(" at line ") != std::string::npos);
    }
}

// Several members replaced at once: all failures are told, in the order of the members.
inline void check_all_failures(Harness& harness, const Target& target, const Json& set,
                               const std::vector<std::pair<std::string, std::string>>& failures) {
    const Answer answer = harness.post(target.path, body_of({{"base", target.file}, {"set", set}}));
    CAPTURE(answer.body);
    Json details = Json::array();
    std::vector<std::string> fields;
    for (const auto& [field, issue] : failures) {
        details.push_back({{"field", field}, {"issue", issue}});
        fields.push_back(field);
    }
    CHECK(answer.status == 400);
    CHECK(answer.label() == "validation_failed");
    CHECK(answer.details() == details);
    CHECK(answer.message() == validation_message(fields));
}

}  // namespace api_test
