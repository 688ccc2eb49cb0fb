#include "chains/evm/signers/make_signer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "chains/evm/signers/aws_kms.hpp"
#include "chains/evm/signers/remote.hpp"
#include "net/client.hpp"
#include "net/url.hpp"

namespace chains::evm::signers {
namespace {

constexpr std::size_t answer_bytes_max = 4U << 20U;  // a transaction may be half a megabyte of hex
constexpr std::size_t file_bytes_max = 64U << 10U;

net::Url url_in(const std::string& text, const Options::Signing& signing, const char* key) {
    auto url = net::parse_url(text);
    if (!url || url->websocket) {
        throw std::invalid_argument(signing.table + "." + key + " is no http or https URL");
    }
    return *std::move(url);
}

HttpServer server_at(net::Url url, const Options& options, const net::ClientTls& tls) {
    const auto client = std::make_shared<net::Client>(std::move(url), answer_bytes_max,
                                                      options.client_context, tls);
    HttpServer server;
    server.ask = [client](net::OwnedRequest request, domain::Milliseconds timeout,
                          net::Client::Done done) {
        client->send(std::move(request), timeout, std::move(done));
    };
    server.stop = [client] { client->stop(); };
    server.secrets = client->secrets();
    return server;
}

std::optional<std::string> content_of(const std::string& path) {
    std::ifstream stream{path, std::ios::binary};
    if (!stream) return std::nullopt;
    std::string text(file_bytes_max, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    return text;
}

std::optional<std::string> variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): never set
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

// Whoever knows credentials is asked rarely, one after the other: a client for each question. Any
// thread.
class CredentialSources {
public:
    explicit CredentialSources(std::shared_ptr<net::ClientContext> context)
        : context_(std::move(context)) {}

    [[nodiscard]] net::ClientResult ask(const std::string& text, const net::OwnedRequest& request,
                                        domain::Milliseconds timeout) {
        using net::TransportError;
        auto url = net::parse_url(text);
        if (!url || url->websocket) {
            return net::transport_error(TransportError::Kind::unsent, "no http or https URL");
        }
        // What goes in the clear goes to this host or its neighbour, and no proxy reads it.
        const auto context = url->tls ? context_ : nullptr;
        const auto client =
            std::make_shared<net::Client>(*std::move(url), answer_bytes_max, context);
        {
            const std::lock_guard lock{mutex_};
            if (stopped_) return net::transport_error(TransportError::Kind::stopped, "stopped");
            asked_ = client;
        }
        return client->exchange({.method = request.method,
                                 .target = request.target,
                                 .body = request.body,
                                 .headers = request.headers,
                                 .repeatable = request.repeatable},
                                timeout);
    }

    // The question under way ends, and so does every later one.
    void stop() {
        std::shared_ptr<net::Client> client;
        {
            const std::lock_guard lock{mutex_};
            stopped_ = true;
            client = asked_.lock();
        }
        if (client) client->stop();
    }

private:
    const std::shared_ptr<net::ClientContext> context_;
    std::mutex mutex_;  // for what follows
    std::weak_ptr<net::Client> asked_;
    bool stopped_ = false;
};

std::unique_ptr<Signer> make_kms(const Options& options, const Options::Signing& signing,
                                 const ports::Clock& clock) {
    const std::string place = !signing.endpoint.empty()
                                  ? signing.endpoint
                                  : "https://kms." + signing.region + ".amazonaws.com" +
                                        (signing.region.starts_with("cn-") ? ".cn" : "");
    net::Url url = url_in(place, signing, "endpoint");
    AwsKmsOptions kms{signing.key_id, signing.region, url.authority(),
                      url.target.substr(0, url.target.find('?')), signing.timeout};
    if (signing.address != domain::Address{}) kms.address = signing.address;
    const auto sources = std::make_shared<CredentialSources>(options.client_context);
    AwsSurroundings around{
        variable, content_of,
        [sources](const std::string& where, const net::OwnedRequest& request,
                  domain::Milliseconds timeout) { return sources->ask(where, request, timeout); }};
    HttpServer server = server_at(std::move(url), options, {});
    server.stop = [sources, stop = std::move(server.stop)] {
        sources->stop();
        stop();
    };
    return std::make_unique<AwsKms>(
        std::move(kms), std::move(server),
        [around = std::move(around), region = signing.region] {
            return find_aws_credentials(around, region);
        },
        clock);
}

std::variant<std::string, SignProblem> token_in(const std::string& path) {
    const auto text = content_of(path);
    const std::string token{text ? base::trimmed(*text, " \t\r\n") : std::string_view{}};
    if (token.empty() || !std::ranges::all_of(token, base::is_visible)) {
        return SignProblem{"token_file can not be read, or holds no token"};
    }
    return token;
}

std::unique_ptr<Signer> make_remote(const Options& options, const Options::Signing& signing) {
    const net::ClientTls tls{signing.ca_file,
                             {signing.client_certificate_file, signing.client_key_file}};
    Remote::ReadToken read_token;
    if (!signing.token_file.empty()) {
        read_token = [path = signing.token_file] { return token_in(path); };
    }
    return std::make_unique<Remote>(
        RemoteOptions{signing.address, signing.timeout, !signing.client_certificate_file.empty()},
        server_at(url_in(signing.url, signing, "url"), options, tls), std::move(read_token));
}

}  // namespace

std::unique_ptr<Signer> make_signer(const Options& options, const Options::Signing& signing,
                                    const ports::Clock& clock) {
    switch (signing.type) {
        case Options::Signing::Type::aws_kms:
            return make_kms(options, signing, clock);
        case Options::Signing::Type::remote:
            return make_remote(options, signing);
        case Options::Signing::Type::private_key:
            break;
    }
    return private_key_signer(signing.private_key);
}

std::optional<domain::Address> configured_account(const Options::Signing& signing) {
    if (signing.type == Options::Signing::Type::private_key) {
        return private_key_signer(signing.private_key)->address();
    }
    if (signing.address == domain::Address{}) return std::nullopt;
    return signing.address;
}

std::vector<std::unique_ptr<Signer>> make_signers(const Options& options,
                                                  const ports::Clock& clock) {
    std::vector<std::unique_ptr<Signer>> signers;
    for (const Options::Signing& signing : options.keys()) {
        signers.push_back(make_signer(options, signing, clock));
    }
    return signers;
}

}  // namespace chains::evm::signers
