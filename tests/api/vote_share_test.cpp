#include "api/vote_share.hpp"

#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "api/samples.hpp"

namespace {

using Json = nlohmann::json;

std::string problem_of(const std::string& body) {
    const auto decoded = api::decode_vote_share(body);
    const auto* problem = std::get_if<api::ShareProblem>(&decoded);
    return problem == nullptr ? "" : problem->text;
}

// The sample with the text of one number replaced, letter by letter.
std::string with_number(const std::string& name, const std::string& number) {
    std::string body = api_test::sample("vote-share.json");
    const std::string member = "\"" + name + "\": ";
    const std::size_t from = body.find(member) + member.size();
    return body.replace(from, body.find_first_of(",\n}", from) - from, number);
}

TEST_CASE("the sample share becomes exactly what it says") {
    const auto decoded = api::decode_vote_share(api_test::sample("vote-share.json"));
    const auto& share = std::get<domain::VoteShare>(decoded);
    CHECK(domain::to_hex(share.round_id) ==
          "0a6fb635439fb6850c775a291f639975bd239745ed43dba2a9f220d707e9b55c");
    CHECK(share.proposal_id == 3);
    CHECK(share.vote_decision == 1);
    CHECK(share.tree_position == 4211);
    CHECK(share.share_index == 5);
    CHECK(share.submit_at == 0);
    CHECK(domain::to_hex(share.c1) ==
          "7301c8691b5aa2ab0b7bfd235dc300fbffc77a6ada971f418c9064e84f34d49a");
}

TEST_CASE("numbers are exact or refused") {
    struct Row {
        const char* member;
        const char* number;
        const char* problem;  // its beginning; empty: accepted
    };
    const Row rows[] = {
        {"submit_at", "9007199254740993", ""},
        {"submit_at", "18446744073709551615", ""},
        {"submit_at", "18446744073709551616", "invalid JSON: submit_at"},
        {"submit_at", "-1", "invalid JSON: submit_at"},
        {"submit_at", "-0", "invalid JSON: submit_at"},
        {"submit_at", "1.5", "invalid JSON: submit_at"},
        {"submit_at", "1.0", "invalid JSON: submit_at"},
        {"submit_at", "1e3", "invalid JSON: submit_at"},
        {"submit_at", "\"5\"", "invalid JSON: submit_at"},
        {"submit_at", "true", "invalid JSON: submit_at"},
        {"submit_at", "[]", "invalid JSON: submit_at"},
        {"submit_at", "null", ""},
        {"tree_position", "4294967295", ""},
        {"tree_position", "4294967296", "tree_position 4294967296 exceeds maximum tree capacity"},
        {"tree_position", "9223372036854775808",
         "tree_position 9223372036854775808 exceeds maximum tree capacity"},
        {"tree_position", "18446744073709551616", "invalid JSON: tree_position"},
        {"share_index", "15", ""},
        {"share_index", "16", "enc_share.share_index must be 0..15"},
        {"share_index", "4294967296", "invalid JSON: enc_share.share_index"},
        {"vote_decision", "7", ""},
        {"vote_decision", "8", "vote_decision must be 0..7"},
        {"vote_decision", "4294967296", "invalid JSON: vote_decision"},
        {"proposal_id", "15", ""},
        {"proposal_id", "null", "proposal_id must be 1..15, got 0"},
        {"proposal_id", "4294967295", "proposal_id must be 1..15, got 4294967295"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.member);
        CAPTURE(row.number);
        const std::string problem = problem_of(with_number(row.member, row.number));
        if (*row.problem == '\0') {
            CHECK(problem == "");
        } else {
            CHECK(problem.starts_with(row.problem));
        }
    }
    const auto exact = api::decode_vote_share(with_number("submit_at", "9007199254740993"));
    CHECK(std::get<domain::VoteShare>(exact).submit_at == 9007199254740993);
}

TEST_CASE("missing and null members are zero and checked as such, in order") {
    CHECK(problem_of("{}") == "shares_hash: expected 32 bytes, got 0");
    CHECK(problem_of("null") == "shares_hash: expected 32 bytes, got 0");
    CHECK(problem_of(api_test::sample_with("vote-share.json", "enc_share", nullptr)) ==
          "enc_share.c1: expected 32 bytes, got 0");
    CHECK(problem_of(api_test::sample_with("vote-share.json", "share_comms", nullptr)) ==
          "share_comms: expected 16 entries, got 0");
    CHECK(problem_of(api_test::sample_with("vote-share.json", "share_comms.3", nullptr)) ==
          "share_comms[3]: expected 32 bytes, got 0");
    CHECK(problem_of(api_test::body_of(
              {{"base", "vote-share.json"},
               {"drop",
                {"submit_at", "vote_decision", "tree_position", "enc_share.share_index"}}})) == "");
}

TEST_CASE("wrong types, wrong lengths and loose spellings are refused by name") {
    struct Row {
        const char* path;
        Json value;
        const char* problem;
    };
    const std::string digits(64, 'a');
    const Row rows[] = {
        {"shares_hash", 5, "invalid JSON: shares_hash: must be a string"},
        {"enc_share", "x", "invalid JSON: enc_share: must be an object"},
        {"share_comms", "x", "invalid JSON: share_comms: must be an array of strings"},
        {"share_comms.0", 1, "invalid JSON: share_comms: must be a string"},
        {"shares_hash", "xForxNiQshaN/ZOW7ETRcuwlSXTKry20o8tdU+uqLTZ=",
         "shares_hash: must be canonical base64 (standard alphabet, with padding)"},
        {"primary_blind", "VUts0+MyZ8/Yg7wbgos/wziz7iPIfXUyWSmHOoWo7B\nw=",
         "primary_blind: must be canonical base64 (standard alphabet, with padding)"},
        {"vote_round_id", digits + "aa", "vote_round_id: expected 32 bytes, got 33"},
        {"vote_round_id", digits.substr(1), "vote_round_id: must be 64 hexadecimal digits"},
        {"vote_round_id", "0x" + digits.substr(2), "vote_round_id: must be 64 hexadecimal digits"},
        {"vote_round_id", "", "vote_round_id: expected 32 bytes, got 0"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.path);
        CHECK(problem_of(api_test::sample_with("vote-share.json", row.path, row.value)) ==
              row.problem);
    }
    CHECK(problem_of("[]") == "invalid JSON: the body must be an object");
    CHECK(problem_of("") == "invalid JSON: the body is empty at line 1, column 1");
}

TEST_CASE("an upper-case round id is the same round") {
    const std::string upper = "0A6FB635439FB6850C775A291F639975BD239745ED43DBA2A9F220D707E9B55C";
    CHECK(
        api::decode_vote_share(api_test::sample_with("vote-share.json", "vote_round_id", upper)) ==
        api::decode_vote_share(api_test::sample("vote-share.json")));
}

}  // namespace
