#include "chains/evm/signers/aws_credentials.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"
#include "chains/evm/signers/aws_profile.hpp"
#include "chains/jsonrpc/parse.hpp"
#include "net/url.hpp"

namespace chains::evm::signers {
namespace {

using jsonrpc::Json;

constexpr domain::Milliseconds nearby{2'000};  // on this machine, or one hop away
constexpr domain::Milliseconds sts_patience{10'000};
constexpr const char* container_host = "http://169.254.170.2";
constexpr const char* instance_host = "http://169.254.169.254";

SignProblem refused(std::string text) {
    return {"AWS credentials: " + std::move(text)};
}

SignProblem away(std::string text) {
    return {"AWS credentials: " + std::move(text), true};
}

// What stands between <name> and </name>; empty: nothing.
std::string_view element_in(std::string_view xml, const std::string& name) {
    const std::size_t begin = xml.find("<" + name + ">");
    if (begin == std::string_view::npos) return {};
    xml.remove_prefix(begin + name.size() + 2);
    const std::size_t end = xml.find("</" + name + ">");
    return end == std::string_view::npos ? std::string_view{} : xml.substr(0, end);
}

std::string text_in(const Json& object, const char* name) {
    if (!object.is_object()) return {};
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

class Finder {
public:
    Finder(const AwsSurroundings& around, const std::string& region)
        : around_(around), region_(region) {}

    AwsCredentialsResult run() {
        if (auto found = environment()) return *std::move(found);
        if (auto found = profile()) return *std::move(found);
        if (auto found = web_identity_of_environment()) return *std::move(found);
        if (auto found = container()) return *std::move(found);
        return instance();
    }

private:
    using Found = std::optional<AwsCredentialsResult>;

    [[nodiscard]] std::string variable(const char* name) const {
        return around_.variable(name).value_or("");
    }

    // The body of an answer that is well.
    using Body = std::variant<std::string, SignProblem>;
    [[nodiscard]] Body ask(const std::string& what, const std::string& url,
                           net::OwnedRequest request, domain::Milliseconds timeout) const {
        const auto result = around_.ask(url, std::move(request), timeout);
        if (const auto* error = std::get_if<net::TransportError>(&result)) {
            SignProblem problem = away(what + ": " + error->text);
            problem.is_stopped = error->kind == net::TransportError::Kind::stopped;
            return problem;
        }
        const auto& response = std::get<net::ClientResponse>(result);
        if (response.status == 200) return response.body;
        // STS names what is wrong, such as AccessDenied or ExpiredTokenException.
        const std::string code{element_in(response.body, "Code")};
        const bool is_word =
            !code.empty() && code.size() <= 64 && std::ranges::all_of(code, base::is_letter);
        const std::string text = what + " answers HTTP " + std::to_string(response.status) +
                                 (is_word ? ", " + code : "");
        return response.status >= 500 || response.status == 429 ? away(text) : refused(text);
    }

    [[nodiscard]] Found environment() const {
        AwsCredentials found{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
                             variable("AWS_SESSION_TOKEN"), std::nullopt, "the environment"};
        if (found.access_key_id.empty() && found.secret_access_key.empty()) return std::nullopt;
        if (found.access_key_id.empty() || found.secret_access_key.empty()) {
            return refused(
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together; set both or neither");
        }
        return found;
    }

    [[nodiscard]] std::string shared_file(const char* name, const char* place) const {
        std::string path = variable(name);
        const std::string home = variable("HOME");
        if (path.empty() && !home.empty()) path = home + place;
        return path.empty() ? std::string{} : around_.file(path).value_or("");
    }

    [[nodiscard]] Found profile() const {
        const std::string chosen = variable("AWS_PROFILE");
        const std::string name = chosen.empty() ? "default" : chosen;
        AwsProfile settings;
        bool known = false;
        for (const auto& [file, place] : {std::pair{"AWS_CONFIG_FILE", "/.aws/config"},
                                          {"AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"}}) {
            auto part = read_aws_profile(shared_file(file, place), name);
            if (!part) continue;
            known = true;
            for (auto& [key, value] : *part) settings[key] = std::move(value);
        }
        if (!known && !chosen.empty()) {
            return refused("AWS_PROFILE names a profile that is in no file");
        }
        return from_profile(settings);
    }

    [[nodiscard]] Found from_profile(AwsProfile& settings) const {
        if (!settings["aws_access_key_id"].empty() && !settings["aws_secret_access_key"].empty()) {
            return AwsCredentials{settings["aws_access_key_id"], settings["aws_secret_access_key"],
                                  settings["aws_session_token"], std::nullopt, "the profile"};
        }
        if (!settings["role_arn"].empty() && !settings["web_identity_token_file"].empty()) {
            return web_identity(settings["role_arn"], settings["web_identity_token_file"],
                                settings["role_session_name"]);
        }
        for (const char* other : {"source_profile", "credential_source", "credential_process",
                                  "sso_session", "sso_start_url"}) {
            if (settings[other].empty()) continue;
            return refused(std::string("the profile has ") + other +
                           ", which is not supported; give it keys, or use a web identity");
        }
        return std::nullopt;
    }

    [[nodiscard]] Found web_identity_of_environment() const {
        const std::string role = variable("AWS_ROLE_ARN");
        const std::string file = variable("AWS_WEB_IDENTITY_TOKEN_FILE");
        if (file.empty()) return std::nullopt;
        if (role.empty()) {
            return refused("AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN beside it");
        }
        return web_identity(role, file, variable("AWS_ROLE_SESSION_NAME"));
    }

    [[nodiscard]] AwsCredentialsResult web_identity(const std::string& role,
                                                    const std::string& file,
                                                    const std::string& session) const {
        const auto token = around_.file(file);
        if (!token || base::trimmed(*token, " \t\r\n").empty()) {
            return refused("the file of the web identity token can not be read, or is empty");
        }
        std::string url = variable("AWS_ENDPOINT_URL_STS");
        if (url.empty()) {
            url = "https://sts." + region_ + ".amazonaws.com" +
                  (region_.starts_with("cn-") ? ".cn" : "");
        }
        net::OwnedRequest request{.method = "POST", .repeatable = true};
        request.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                           {"Accept", "text/xml"}};
        request.body =
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=" + uri_escaped(role) +
            "&RoleSessionName=" + uri_escaped(session.empty() ? "posthouse" : session) +
            "&WebIdentityToken=" + uri_escaped(base::trimmed(*token, " \t\r\n"));
        const auto body = ask("AssumeRoleWithWebIdentity", url, std::move(request), sts_patience);
        if (const auto* problem = std::get_if<SignProblem>(&body)) return *problem;
        const auto xml = element_in(std::get<std::string>(body), "Credentials");
        AwsCredentials found{std::string{element_in(xml, "AccessKeyId")},
                             std::string{element_in(xml, "SecretAccessKey")},
                             std::string{element_in(xml, "SessionToken")},
                             time_in_iso8601(element_in(xml, "Expiration")), "a web identity"};
        return complete(std::move(found), "AssumeRoleWithWebIdentity");
    }

    [[nodiscard]] AwsCredentialsResult complete(AwsCredentials found,
                                                const std::string& what) const {
        if (found.access_key_id.empty() || found.secret_access_key.empty() || !found.expires) {
            return refused(what + " answers without credentials");
        }
        return found;
    }

    [[nodiscard]] AwsCredentialsResult from_json(const std::string& text,
                                                 const std::string& what) const {
        const auto json = jsonrpc::parse(text);
        if (!json) return refused(what + " answers no JSON");
        return complete(
            {text_in(*json, "AccessKeyId"), text_in(*json, "SecretAccessKey"),
             text_in(*json, "Token"), time_in_iso8601(text_in(*json, "Expiration")), what},
            what);
    }

    // The token must not go in the clear to somebody else's machine.
    [[nodiscard]] static bool is_near(const std::string& url) {
        const auto parsed = net::parse_url(url);
        constexpr std::array<std::string_view, 7> hosts{
            "localhost",      "127.0.0.1", "::1",          "169.254.170.2",
            "169.254.170.23", "[::1]",     "fd00:ec2::23",
        };
        return parsed && !parsed->websocket &&
               (parsed->tls || std::ranges::find(hosts, parsed->host) != hosts.end());
    }

    [[nodiscard]] Found container() const {
        const std::string relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        const std::string full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        if (relative.empty() && full.empty()) return std::nullopt;
        const std::string url = relative.empty() ? full : container_host + relative;
        if (!is_near(url)) {
            return refused(
                "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor an address of this host");
        }
        net::OwnedRequest request{.method = "GET", .repeatable = true};
        std::string token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
        if (const auto file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
            token = around_.file(file).value_or("");
        }
        token = base::trimmed(token, " \t\r\n");
        if (!token.empty()) request.headers = {{"Authorization", token}};
        const auto body = ask("the container's endpoint", url, std::move(request), nearby);
        if (const auto* problem = std::get_if<SignProblem>(&body)) return *problem;
        return from_json(std::get<std::string>(body), "the container's endpoint");
    }

    [[nodiscard]] AwsCredentialsResult instance() const {
        const std::string what = "the instance's metadata";
        if (base::lower_case(variable("AWS_EC2_METADATA_DISABLED")) == "true") {
            return refused(
                "there are none; looked at the environment, the profile, web identity and the "
                "container's endpoint");
        }
        std::string host = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
        if (host.empty()) host = instance_host;
        while (host.ends_with('/')) host.pop_back();
        net::OwnedRequest request{.method = "PUT", .repeatable = true};
        request.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
        auto token = ask(what, host + "/latest/api/token", std::move(request), nearby);
        if (auto* problem = std::get_if<SignProblem>(&token)) {
            if (problem->unreached) {
                problem->text +=
                    "; nothing is in the environment, the profile, web identity or the "
                    "container's endpoint";
            }
            return *problem;
        }
        const auto get = [&](const std::string& path) {
            net::OwnedRequest next{.method = "GET", .repeatable = true};
            next.headers = {{"X-aws-ec2-metadata-token",
                             std::string{base::trimmed(std::get<std::string>(token), " \t\r\n")}}};
            return ask(what, host + "/latest/meta-data/iam/security-credentials/" + path,
                       std::move(next), nearby);
        };
        const auto role = get("");
        if (const auto* problem = std::get_if<SignProblem>(&role)) return *problem;
        const std::string_view text = std::get<std::string>(role);
        const std::string name{base::trimmed(text.substr(0, text.find('\n')), " \t\r")};
        if (name.empty()) return refused("the instance has no role");
        const auto body = get(name);
        if (const auto* problem = std::get_if<SignProblem>(&body)) return *problem;
        return from_json(std::get<std::string>(body), what);
    }

    const AwsSurroundings& around_;
    const std::string& region_;
};

}  // namespace

std::optional<domain::Timestamp> time_in_iso8601(std::string_view text) {
    // YYYY-MM-DDTHH:MM:SS
    constexpr std::size_t seconds_end = 19;
    if (text.size() <= seconds_end || !text.ends_with('Z') || text[4] != '-' || text[7] != '-' ||
        text[10] != 'T' || text[13] != ':' || text[16] != ':') {
        return std::nullopt;
    }
    const auto number = [&](std::size_t begin, std::size_t size) {
        return base::number_in<unsigned>(text.substr(begin, size)).value_or(10'000);
    };
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(number(0, 4))},
                                           std::chrono::month{number(5, 2)},
                                           std::chrono::day{number(8, 2)}};
    const unsigned hour = number(11, 2);
    const unsigned minute = number(14, 2);
    const unsigned second = number(17, 2);
    if (number(0, 4) > 9'999 || !date.ok() || hour > 23 || minute > 59 || second > 60)
        return std::nullopt;
    return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
           std::chrono::seconds{second};
}

AwsCredentialsResult find_aws_credentials(const AwsSurroundings& surroundings,
                                          const std::string& region) {
    return Finder{surroundings, region}.run();
}

}  // namespace chains::evm::signers
