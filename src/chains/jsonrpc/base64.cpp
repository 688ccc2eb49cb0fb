#include "chains/jsonrpc/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>

namespace chains::jsonrpc {

std::string base64(std::string_view bytes) {
    std::string encoded((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the zero that OpenSSL adds
    const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                       reinterpret_cast<const unsigned char*>(bytes.data()),
                                       static_cast<int>(bytes.size()));
    encoded.resize(static_cast<std::size_t>(size));
    return encoded;
}

bool from_base64(std::string_view text, std::span<std::uint8_t> out) {
    if (text.size() != (out.size() + 2) / 3 * 4) return false;
    std::string bytes(text.size() / 4 * 3, '\0');  // OpenSSL writes what the padding stands for
    const int size = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                       reinterpret_cast<const unsigned char*>(text.data()),
                                       static_cast<int>(text.size()));
    if (size < 0) return false;
    bytes.resize(out.size());
    if (base64(bytes) != text) return false;  // OpenSSL tolerates what is not canonical
    std::ranges::copy(bytes, out.begin());
    return true;
}

}  // namespace chains::jsonrpc
