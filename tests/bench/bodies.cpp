#include "bench/bodies.hpp"

#include <algorithm>
#include <cassert>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace bench {

namespace {

// Ten digits whatever is added; tree positions go up to 2^32 - 1.
constexpr std::uint64_t first_tree_position = 1'000'000'000;
constexpr std::uint64_t last_second = 4'102'444'800;
constexpr std::size_t hex_digits = 16;

std::string read(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw std::runtime_error("can not read the sample body " + file.string());
    return {std::istreambuf_iterator<char>(stream), {}};
}

// Where the value of a member begins.
std::size_t value_of(const std::string& text, std::string_view member) {
    const std::string quoted = "\"" + std::string(member) + "\": ";
    const std::size_t at = text.find(quoted);
    if (at == std::string::npos) throw std::runtime_error("a sample body has no " + quoted);
    return at + quoted.size();
}

// Makes the number that stands there ten digits long.
void widen(std::string& text, std::size_t at, std::uint64_t value) {
    const std::size_t end = text.find_first_not_of("0123456789", at);
    text.replace(at, end - at, std::to_string(value));
}

}  // namespace

Body Body::vote_share(const std::filesystem::path& samples) {
    Body body("/shielded-vote/v1/shares", read(samples / "vote-share-scheduled.json"));
    widen(body.text_, value_of(body.text_, "tree_position"), first_tree_position);
    widen(body.text_, value_of(body.text_, "submit_at"), last_second);
    body.number_ = {value_of(body.text_, "tree_position"), 10};
    body.submit_at_ = {value_of(body.text_, "submit_at"), 10};
    return body;
}

Body Body::input_proof(const std::filesystem::path& samples) {
    constexpr std::size_t amid_the_ciphertext = 4'000;
    Body body("/v2/input-proof", read(samples / "input-proof-1-value.json"));
    body.number_ = {
        value_of(body.text_, "ciphertextWithInputVerification") + 1 + amid_the_ciphertext,
        hex_digits};
    body.base_ = 16;
    return body;
}

Body Body::public_decrypt(const std::filesystem::path& samples) {
    return with_handle("/v2/public-decrypt", samples / "public-decrypt.json");
}

Body Body::user_decrypt(const std::filesystem::path& samples) {
    return with_handle("/v2/user-decrypt", samples / "user-decrypt.json");
}

// The number is in the first handle.
Body Body::with_handle(std::string path, const std::filesystem::path& sample) {
    Body body(std::move(path), read(sample));
    const std::size_t handle = body.text_.find("\"0x");
    if (handle == std::string::npos) throw std::runtime_error("the sample body has no handle");
    body.number_ = {handle + 3, hex_digits};
    body.base_ = 16;
    return body;
}

void Body::write(FieldSpan span, unsigned base, std::uint64_t value) {
    assert(span.length > 0);
    for (std::size_t digit = span.length; digit-- > 0; value /= base) {
        text_[span.offset + digit] = "0123456789abcdef"[value % base];
    }
    assert(value == 0);
}

void Body::set_number(std::uint64_t number) {
    assert(number < (1ULL << 31U));
    write(number_, base_, base_ == 10 ? first_tree_position + number : number);
}

void Body::set_submit_at(std::uint64_t seconds) {
    write(submit_at_, 10, seconds);
}

Posts::Posts(const Body& body, std::size_t connections, std::uint64_t first_number)
    : body_(body), number_(first_number) {
    const std::string head = "POST " + std::string(body.path()) +
                             " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                             "Content-Length: " +
                             std::to_string(body.text().size()) + "\r\n\r\n";
    head_bytes_ = head.size();
    texts_.assign(connections, head + body.text());
}

std::string_view Posts::next(std::size_t connection) {
    body_.set_number(number_++);
    return fill(connection);
}

std::string_view Posts::next(std::size_t connection, std::uint64_t submit_at) {
    body_.set_submit_at(submit_at);
    return next(connection);
}

std::string_view Posts::fill(std::size_t connection) {
    std::string& text = texts_[connection];
    std::ranges::copy(body_.text(), text.begin() + static_cast<std::ptrdiff_t>(head_bytes_));
    return text;
}

}  // namespace bench
