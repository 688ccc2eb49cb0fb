#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The body of a real client with places for numbers, so that no two of them are the same request.
class Body {
public:
    // The second a share becomes due is 2100-01-01, the end of its round, unless it is set.
    [[nodiscard]] static Body vote_share(const std::filesystem::path& samples);
    [[nodiscard]] static Body input_proof(const std::filesystem::path& samples);
    [[nodiscard]] static Body public_decrypt(const std::filesystem::path& samples);
    [[nodiscard]] static Body user_decrypt(const std::filesystem::path& samples);

    // Numbers below 2^31 give different requests.
    void set_number(std::uint64_t number);
    // Vote shares only; Unix seconds of ten digits.
    void set_submit_at(std::uint64_t seconds);

    [[nodiscard]] std::string_view path() const { return path_; }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    struct FieldSpan {
        std::size_t offset = 0;
        std::size_t length = 0;  // 0: there is none
    };

    [[nodiscard]] static Body with_handle(std::string path, const std::filesystem::path& sample);
    Body(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
    void write(FieldSpan span, unsigned base, std::uint64_t value);

    std::string path_;
    std::string text_;
    FieldSpan number_;
    FieldSpan submit_at_;
    unsigned base_ = 10;
};

// POST requests for keep-alive connections, numbered in the order they are asked for.
class Posts {
public:
    Posts(const Body& body, std::size_t connections, std::uint64_t first_number = 0);

    // Valid until the next call for the same connection.
    [[nodiscard]] std::string_view next(std::size_t connection);
    // The same for a share that becomes due at that Unix second.
    [[nodiscard]] std::string_view next(std::size_t connection, std::uint64_t submit_at);

    [[nodiscard]] std::uint64_t next_number() const { return number_; }

private:
    [[nodiscard]] std::string_view fill(std::size_t connection);

    Body body_;
    std::size_t head_bytes_ = 0;
    std::vector<std::string> texts_;
    std::uint64_t number_;
};

}  // namespace bench
