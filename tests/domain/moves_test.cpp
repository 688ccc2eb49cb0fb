#include "domain/moves.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace domain;

namespace {

// Written from relayer-api 3.2 and share-helper 9, not from the table under test.
// A row is a status to leave, a column one to enter, in the order of the names; a letter is a
// cause, a dot forbids the move.
constexpr std::string_view proof_law = R"(
                  queued processing tx_in_flight receipt_received completed timed_out failure
queued            .      .          .            .                .         .         i
processing        .      .          s            .                .         .         ti
tx_in_flight      .      v          .            r                .         .         ti
receipt_received  .      .          g            .                a         e         ji
completed         .      .          .            .                .         .         .
timed_out         .      .          .            .                .         .         .
failure           .      .          .            .                .         .         .
)";

constexpr std::string_view decrypt_law = R"(
                  queued processing tx_in_flight receipt_received completed timed_out failure
queued            .      c          .            .                .         e         fi
processing        .      .          s            .                .         .         ti
tx_in_flight      .      v          .            r                .         .         ti
receipt_received  .      .          g            .                a         e         i
completed         .      .          .            .                .         .         .
timed_out         .      .          .            .                .         .         .
failure           .      .          .            .                .         .         .
)";

constexpr std::string_view share_law = R"(
                  queued processing tx_in_flight receipt_received completed timed_out failure
queued            .      c          .            .                .         e         i
processing        vy     .          s            .                .         .         ti
tx_in_flight      vy     .          .            r                .         .         ti
receipt_received  l      .          .            .                a         e         i
completed         .      .          .            .                .         .         .
timed_out         .      .          .            .                .         .         .
failure           .      .          .            .                .         .         .
)";

struct Letter {
    char letter;
    Cause cause;
};

constexpr std::array letters{
    Letter{'c', Cause::claimed},     Letter{'s', Cause::sealed},   Letter{'r', Cause::receipt},
    Letter{'a', Cause::answered},    Letter{'j', Cause::rejected}, Letter{'e', Cause::expired},
    Letter{'f', Cause::refused},     Letter{'i', Cause::internal}, Letter{'v', Cause::recovered},
    Letter{'t', Cause::transaction}, Letter{'y', Cause::retried},  Letter{'l', Cause::lost},
    Letter{'g', Cause::reorganised},
};
static_assert(letters.size() == static_cast<std::size_t>(Cause::reorganised) + 1);

std::string_view law_of(Kind kind) {
    if (kind == Kind::input_proof) return proof_law;
    return kind == Kind::share ? share_law : decrypt_law;
}

std::vector<std::string> words_of(std::string_view text) {
    std::istringstream in{std::string{text}};
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

}  // namespace

TEST_CASE("every kind may make exactly the moves of the law, for exactly these causes") {
    for (const Kind kind : kinds) {
        const std::vector<std::string> words = words_of(law_of(kind));
        const std::size_t columns = statuses.size();
        REQUIRE(words.size() == columns + columns * (columns + 1));

        for (std::size_t row = 0; row < columns; ++row) {
            const std::size_t row_begin = columns + row * (columns + 1);
            REQUIRE(words[row] == to_string(statuses.at(row)));
            REQUIRE(words[row_begin] == to_string(statuses.at(row)));

            for (std::size_t column = 0; column < columns; ++column) {
                const Status from = statuses.at(row);
                const Status to = statuses.at(column);
                const std::string& causes = words[row_begin + 1 + column];
                CAPTURE(to_string(kind));
                CAPTURE(to_string(from));
                CAPTURE(to_string(to));
                CHECK(is_legal(kind, from, to) == (causes != "."));
                for (const Letter& known : letters) {
                    CAPTURE(known.letter);
                    CHECK(is_legal(kind, from, to, known.cause) ==
                          (causes.find(known.letter) != std::string::npos));
                }
            }
        }
    }
}

TEST_CASE("no move is listed twice and every move serves some kind") {
    for (std::size_t i = 0; i < moves.size(); ++i) {
        CAPTURE(i);
        CHECK((moves.at(i).input_proof || moves.at(i).decrypt || moves.at(i).share));
        for (std::size_t j = i + 1; j < moves.size(); ++j) {
            CAPTURE(j);
            CHECK_FALSE((moves.at(i).from == moves.at(j).from && moves.at(i).to == moves.at(j).to &&
                         moves.at(i).cause == moves.at(j).cause));
        }
    }
}

TEST_CASE("input proofs start in processing, all others in queued") {
    for (const Kind kind : kinds) {
        CAPTURE(to_string(kind));
        CHECK(first_status(kind) ==
              (kind == Kind::input_proof ? Status::processing : Status::queued));
    }
}

TEST_CASE("from every status that is not terminal a request can fail, from no other") {
    for (const Kind kind : kinds) {
        for (const Status from : statuses) {
            CAPTURE(to_string(kind));
            CAPTURE(to_string(from));
            CHECK(is_legal(kind, from, Status::failure) == !is_terminal(from));
        }
    }
}
