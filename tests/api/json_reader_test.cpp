#include "api/json_reader.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "api/samples.hpp"

namespace {

using api::JsonType;
using api::JsonValue;
using Json = nlohmann::json;

using Read = std::variant<api::JsonDocument, api::JsonProblem>;

std::optional<api::JsonProblem> problem_of(const Read& read) {
    if (const auto* problem = std::get_if<api::JsonProblem>(&read)) return *problem;
    return {};
}

std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text;
}

// The same value as the general library sees it.
Json to_library(JsonValue value) {
    switch (value.type()) {
        case JsonType::null:
            return nullptr;
        case JsonType::boolean:
            return value.text() == "true";
        case JsonType::number:
            return Json::parse(value.text());
        case JsonType::string:
            return value.text();
        case JsonType::array: {
            Json array = Json::array();
            for (const JsonValue element : value.elements()) array.push_back(to_library(element));
            return array;
        }
        case JsonType::object: {
            Json object = Json::object();
            for (const api::JsonMember& member : value.members()) {
                object[std::string(member.name)] = to_library(member.value);
            }
            return object;
        }
    }
    return nullptr;
}

TEST_CASE("JSON is read to the letter") {
    const std::string text =
        R"( { "a" : [ 1 , -2.50e+1, "x\u00e9\ud83d\ude00\n\"", true, false, null, {}, [] ],)"
        "\r\n\t\"long name without escapes\": \"a string that is longer than one word\" } ";
    const Read read = api::read_json(text);
    REQUIRE_FALSE(problem_of(read));
    const JsonValue root = std::get<api::JsonDocument>(read).root();
    CHECK(root.size() == 2);
    CHECK(root["long name without escapes"].text() == "a string that is longer than one word");
    CHECK_FALSE(root.find("b"));

    const JsonValue list = root["a"];
    REQUIRE(list.size() == 8);
    std::vector<JsonValue> elements;
    for (const JsonValue element : list.elements()) elements.push_back(element);
    CHECK(elements[0].text() == "1");
    CHECK(elements[1].text() == "-2.50e+1");
    CHECK(elements[2].text() == "x\xC3\xA9\xF0\x9F\x98\x80\n\"");
    CHECK(elements[3].is(JsonType::boolean));
    CHECK(elements[5].is(JsonType::null));
    CHECK(elements[6].is(JsonType::object));
    CHECK(elements[7].size() == 0);
}

TEST_CASE("what is no JSON, or dangerous JSON, is refused with its place") {
    struct Row {
        std::string text;
        std::string what;
        std::size_t offset;
    };
    const Row rows[] = {
        {"", "the body is empty", 0},
        {"  \n", "the body is empty", 3},
        {"not json", "unexpected character", 0},
        {"{\"a\":1", "the text ends too early", 6},
        {"{\"a\":1}}", "text after the end of the value", 7},
        {"{\"a\":1,}", "unexpected character", 7},
        {"[1,]", "unexpected character", 3},
        {"[1 2]", "unexpected character", 3},
        {"{\"a\" 1}", "unexpected character", 5},
        {"{a:1}", "unexpected character", 1},
        {"01", "text after the end of the value", 1},
        {"-", "the text ends too early", 1},
        {"1.", "the text ends too early", 2},
        {"[1.x]", "unexpected character", 3},
        {"[1e]", "unexpected character", 3},
        {"+1", "unexpected character", 0},
        {"nul", "the text ends too early", 3},
        {"'a'", "unexpected character", 0},
        {"\"a", "the text ends too early", 2},
        {"\"a\nb\"", "a bare control character", 2},
        {std::string("\"a\0b\"", 5), "a bare control character", 2},
        {std::string("\0", 1), "a bare control character", 0},
        {"\"\\x\"", "unexpected character", 2},
        {"\"\\u12g4\"", "expected four hexadecimal digits", 5},
        {"\"\\u-123\"", "expected four hexadecimal digits", 3},
        {"\"\\ud800\"", "unexpected character", 7},
        {"\"\\ud800, and more than that\"", "unexpected character", 7},
        {"\"\\ud800\\u0041\"", "lone surrogate", 9},
        {"\"\\udc00\"", "lone surrogate", 7},
        {"\"\xFF\"", "neither ASCII nor UTF-8 inside a string", 1},
        {"\"\xC0\xAF\"", "neither ASCII nor UTF-8 inside a string", 1},
        {"\"\xED\xA0\x80\"", "neither ASCII nor UTF-8 inside a string", 1},
        {"\"\xF4\x90\x80\x80\"", "neither ASCII nor UTF-8 inside a string", 1},
        {"\"12345678\xE2\x82\"", "neither ASCII nor UTF-8 inside a string", 9},
        {"\xEF\xBB\xBF{}", "neither ASCII nor UTF-8 inside a string", 0},
        {"{\"a\":1,\"a\":1}", "an object has the same member twice", 7},
        {"{\"a\":1,\"\\u0061\":1}", "an object has the same member twice", 17},
        {"[{\"x\":{\"a\":1,\"b\":2,\"a\":3}}]", "an object has the same member twice", 19},
        {"1e999", "the number is out of range", 0},
        {"[" + std::string(400, '9') + "]", "the number is out of range", 1},
        {nested(33, "[", "]"), "nested too deeply", 32},
        {std::string(1'000'000, '['), "nested too deeply", 32},
        {nested(33, "{\"a\":", "}"), "nested too deeply", 160},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text.substr(0, 80));
        const auto problem = problem_of(api::read_json(row.text));
        REQUIRE(problem);
        CHECK(problem->what == row.what);
        CHECK(problem->offset == row.offset);
    }
}

TEST_CASE("line and column are where an editor shows them") {
    struct Row {
        std::string text;
        std::string said;
    };
    const Row rows[] = {
        {"", "the body is empty at line 1, column 1"},
        {"{\"a\":1,\n \"b\" 2}", "unexpected character at line 2, column 6"},
        {"[1,\r\n2,\r\n", "the text ends too early at line 3, column 1"},
        {"[\"\xC3\xA9\xF0\x9F\x98\x80\" 1]", "unexpected character at line 1, column 7"},
        {"{\"a\":1,\n\n\"a\":1}", "an object has the same member twice at line 3, column 1"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        const auto problem = problem_of(api::read_json(row.text));
        REQUIRE(problem);
        CHECK(api::text_of(*problem) == row.said);
    }
}

TEST_CASE("strings of every make and length are put together from their pieces") {
    std::string plain;
    std::string escaped;
    for (int length = 0; length < 600; ++length) {
        for (const auto& [before, after] : {std::pair{"", ""},
                                            {"\\n", "\n"},
                                            {"\\ud83d\\ude00", "\xF0\x9F\x98\x80"},
                                            {"\xC3\xA9", "\xC3\xA9"}}) {
            const std::string text =
                "{\"" + escaped + before + escaped + "\":[\"" + before + escaped + before + "\"]}";
            const Read read = api::read_json(text);
            REQUIRE_FALSE(problem_of(read));
            const api::JsonMember member =
                *std::get<api::JsonDocument>(read).root().members().begin();
            CHECK(member.name == plain + after + plain);
            CHECK((*member.value.elements().begin()).text() == after + plain + after);
        }
        plain += length % 97 == 96 ? '\t' : 'x';
        escaped += length % 97 == 96 ? "\\t" : "x";
    }
}

TEST_CASE("the bounds themselves are fine") {
    CHECK_FALSE(problem_of(api::read_json(nested(32, "[", "]"))));
    CHECK_FALSE(problem_of(api::read_json("[" + std::string(300, '9') + ",1e308,1E-5,0,-0]")));
    CHECK_FALSE(problem_of(api::read_json("\"\\ud800\\udc00\\u0000\x7F\"")));
    CHECK_FALSE(problem_of(api::read_json("\"\xF4\x8F\xBF\xBF\xEF\xBF\xBF\"")));
}

TEST_CASE("many values and many members are bounded in memory and time") {
    std::string values = "[0";
    for (int i = 0; i < 1'000'000; ++i) values += ",0";
    CHECK(problem_of(api::read_json(values + "]")).value().what == "too many values");

    std::string members = "{";
    for (int i = 0; i < 90'000; ++i) members += "\"" + std::to_string(i) + "\":0,";
    CHECK_FALSE(problem_of(api::read_json(members + "\"x\":0}")));
    CHECK(problem_of(api::read_json(members + "\"77\":0}")).value().what ==
          "an object has the same member twice");
}

TEST_CASE("damaged texts are read as a general library reads them, or refused for a rule of ours") {
    constexpr std::string_view ours[] = {"an object has the same member twice",
                                         "the number is out of range"};
    constexpr std::string_view bytes = "{}[]\",:\\u0d8e1.-+ \n\t\x01\x80\xC3\xA9tfn";
    const std::string original =
        R"({"s":"aé\u00e9\ud83d\ude00\\","n":[0,-1,1.5e3,123456789012345678901],"o":{"t":true,)"
        R"("f":false,"z":null,"":{}},"long":"0123456789abcdef0123456789abcdef"})";
    std::mt19937 random(20260601);
    int accepted = 0;
    for (int round = 0; round < 30'000; ++round) {
        std::string text = original;
        for (auto edits = 1 + random() % 3; edits > 0; --edits) {
            const std::size_t at = random() % text.size();
            const char byte = bytes[random() % bytes.size()];
            switch (random() % 3) {
                case 0:
                    text[at] = byte;
                    break;
                case 1:
                    text.insert(at, 1, byte);
                    break;
                default:
                    text.erase(at, 1 + random() % 4);
                    break;
            }
        }
        CAPTURE(text);
        const Read read = api::read_json(text);
        const Json expected = Json::parse(text, nullptr, false);
        if (const auto problem = problem_of(read)) {
            const bool rule_of_ours =
                std::find(std::begin(ours), std::end(ours), problem->what) != std::end(ours);
            CHECK((expected.is_discarded() || rule_of_ours));
        } else {
            ++accepted;
            REQUIRE_FALSE(expected.is_discarded());
            CHECK(to_library(std::get<api::JsonDocument>(read).root()) == expected);
        }
    }
    CHECK(accepted > 1'000);
}

TEST_CASE("every sample is read as a general library reads it") {
    for (const char* name :
         {"input-proof-1-value.json", "input-proof-2048-bits.json", "public-decrypt.json",
          "user-decrypt.json", "delegated-user-decrypt.json", "user-decrypt-v3.json",
          "vote-share.json", "vote-share-extra-members.json", "expected.json"}) {
        CAPTURE(name);
        const std::string text = api_test::sample(name);
        const Read read = api::read_json(text);
        REQUIRE_FALSE(problem_of(read));
        CHECK(to_library(std::get<api::JsonDocument>(read).root()) == Json::parse(text));
    }
}

}  // namespace
