#include "chains/evm/signers/aws_credentials.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "chains/evm/signers/aws_profile.hpp"
#include "domain/time.hpp"

using chains::evm::SignProblem;
using chains::evm::signers::AwsCredentials;
using chains::evm::signers::AwsCredentialsResult;
using chains::evm::signers::AwsSurroundings;
using chains::evm::signers::find_aws_credentials;
using chains::evm::signers::read_aws_profile;
using chains::evm::signers::time_in_iso8601;

namespace {

// A machine: variables, files, and servers by method and URL.
struct Machine {
    struct Asked {
        std::string url;
        net::OwnedRequest request;
    };

    std::map<std::string, std::string> variables;
    std::map<std::string, std::string> files;
    std::map<std::string, net::ClientResult> servers;
    std::vector<Asked> asked;

    [[nodiscard]] AwsCredentialsResult find(const std::string& region = "eu-central-1") {
        AwsSurroundings around;
        around.variable = [this](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional{found->second};
        };
        around.file = [this](const std::string& path) -> std::optional<std::string> {
            const auto found = files.find(path);
            return found == files.end() ? std::nullopt : std::optional{found->second};
        };
        around.ask = [this](const std::string& url, net::OwnedRequest request,
                            domain::Milliseconds) -> net::ClientResult {
            asked.push_back({url, request});
            const auto found = servers.find(request.method + " " + url);
            if (found == servers.end()) {
                return net::transport_error(net::TransportError::Kind::unsent, "no route");
            }
            return found->second;
        };
        return find_aws_credentials(around, region);
    }

    [[nodiscard]] AwsCredentials found() {
        auto result = find();
        if (const auto* problem = std::get_if<SignProblem>(&result)) FAIL(problem->text);
        return std::get<AwsCredentials>(result);
    }
    [[nodiscard]] SignProblem problem() {
        auto result = find();
        REQUIRE(std::holds_alternative<SignProblem>(result));
        return std::get<SignProblem>(result);
    }
};

net::ClientResult answer(std::string body, int status = 200) {
    return net::ClientResponse{status, std::move(body), {}};
}

std::string value_of(const net::OwnedRequest& request, const std::string& name) {
    for (const auto& [key, value] : request.headers) {
        if (key == name) return value;
    }
    return {};
}

const std::string temporary =
    R"({"Code":"Success","AccessKeyId":"ASIA1","SecretAccessKey":"secret1","Token":"token1",)"
    R"("Expiration":"2026-06-01T06:00:00Z"})";
AwsCredentials temporary_of(const std::string& source) {
    return {"ASIA1", "secret1", "token1", domain::from_unix_ms(1'780'293'600'000), source};
}

const std::string sts_answer =
    "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
    "<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIA1</AccessKeyId>"
    "<SecretAccessKey>secret1</SecretAccessKey><SessionToken>token1</SessionToken>"
    "<Expiration>2026-06-01T06:00:00Z</Expiration></Credentials>"
    "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";

}  // namespace

TEST_CASE("AWS credentials of the environment come first") {
    Machine machine;
    machine.variables = {
        {"AWS_ACCESS_KEY_ID", "AKIA1"}, {"AWS_SECRET_ACCESS_KEY", "s1"}, {"HOME", "/home/p"}};
    machine.files["/home/p/.aws/credentials"] =
        "[default]\naws_access_key_id=x\naws_secret_access_key=y\n";
    CHECK(machine.found() == AwsCredentials{"AKIA1", "s1", "", {}, "the environment"});
    machine.variables["AWS_SESSION_TOKEN"] = "t1";
    CHECK(machine.found() == AwsCredentials{"AKIA1", "s1", "t1", {}, "the environment"});
    machine.variables.erase("AWS_SECRET_ACCESS_KEY");
    CHECK(machine.problem().text.find("AWS_SECRET_ACCESS_KEY") != std::string::npos);
    CHECK(machine.asked.empty());
}

TEST_CASE("AWS credentials of the shared files: the chosen profile of both") {
    Machine machine;
    machine.variables = {{"HOME", "/home/p"}};
    machine.files["/home/p/.aws/credentials"] =
        "# mine\n[default]\naws_access_key_id = AKIA1\naws_secret_access_key = s=1\n\n"
        "[prod]\r\naws_access_key_id=AKIA2\r\naws_secret_access_key=s2\r\n"
        "AWS_SESSION_TOKEN=t2\r\n";
    CHECK(machine.found() == AwsCredentials{"AKIA1", "s=1", "", {}, "the profile"});
    machine.variables["AWS_PROFILE"] = "prod";
    CHECK(machine.found() == AwsCredentials{"AKIA2", "s2", "t2", {}, "the profile"});
    machine.variables["AWS_PROFILE"] = "other";
    CHECK(machine.problem().text.find("AWS_PROFILE") != std::string::npos);
    machine.variables["AWS_CONFIG_FILE"] = "/etc/aws";
    machine.files["/etc/aws"] = "[profile other]\naws_access_key_id=A\naws_secret_access_key=B\n";
    CHECK(machine.found() == AwsCredentials{"A", "B", "", {}, "the profile"});
    machine.files["/etc/aws"] = "[profile other]\nsso_session = x\n";
    CHECK(machine.problem().text.find("sso_session, which is not supported") != std::string::npos);
    machine.variables["AWS_SHARED_CREDENTIALS_FILE"] = "/etc/keys";
    machine.files["/etc/keys"] = "[other]\naws_access_key_id=C\naws_secret_access_key=D\n";
    CHECK(machine.found() == AwsCredentials{"C", "D", "", {}, "the profile"});
    CHECK(machine.asked.empty());
}

TEST_CASE("AWS credentials of a web identity: AssumeRoleWithWebIdentity") {
    Machine machine;
    machine.variables = {{"AWS_ROLE_ARN", "arn:aws:iam::1:role/signer"},
                         {"AWS_WEB_IDENTITY_TOKEN_FILE", "/token"}};
    machine.files["/token"] = "a.b/c+d\n";
    machine.servers["POST https://sts.eu-central-1.amazonaws.com"] = answer(sts_answer);
    CHECK(machine.found() == temporary_of("a web identity"));
    REQUIRE(machine.asked.size() == 1);
    CHECK(machine.asked[0].request.body ==
          "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3A"
          "role%2Fsigner&RoleSessionName=posthouse&WebIdentityToken=a.b%2Fc%2Bd");
    SUBCASE("elsewhere, under a name") {
        machine.variables["AWS_ENDPOINT_URL_STS"] = "http://localhost:9";
        machine.variables["AWS_ROLE_SESSION_NAME"] = "me";
        machine.servers["POST http://localhost:9"] = answer(sts_answer);
        CHECK(machine.found() == temporary_of("a web identity"));
        CHECK(machine.asked.back().request.body.find("RoleSessionName=me&") != std::string::npos);
    }
    SUBCASE("of a profile") {
        machine.variables = {{"AWS_CONFIG_FILE", "/etc/aws"}};
        machine.files["/etc/aws"] =
            "[default]\nrole_arn = arn:aws:iam::1:role/signer\nweb_identity_token_file = /token\n";
        CHECK(machine.found() == temporary_of("a web identity"));
    }
    SUBCASE("refused") {
        machine.servers["POST https://sts.eu-central-1.amazonaws.com"] = answer(
            "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code>"
            "<Message>arn:aws:iam::1:role/signer</Message></Error></ErrorResponse>",
            403);
        const auto problem = machine.problem();
        CHECK(problem.text ==
              "AWS credentials: AssumeRoleWithWebIdentity answers HTTP 403, AccessDenied");
        CHECK_FALSE(problem.unreached);
    }
    SUBCASE("away") {
        machine.servers.clear();
        CHECK(machine.problem().unreached);
        machine.servers["POST https://sts.eu-central-1.amazonaws.com"] = answer("", 503);
        CHECK(machine.problem().unreached);
    }
    SUBCASE("half") {
        machine.servers["POST https://sts.eu-central-1.amazonaws.com"] =
            answer("<Credentials><AccessKeyId>A</AccessKeyId></Credentials>");
        CHECK(machine.problem().text.find("without credentials") != std::string::npos);
        machine.files.clear();
        CHECK(machine.problem().text.find("can not be read") != std::string::npos);
        machine.variables.erase("AWS_ROLE_ARN");
        CHECK(machine.problem().text.find("AWS_ROLE_ARN") != std::string::npos);
    }
}

TEST_CASE("AWS credentials of a container's endpoint") {
    Machine machine;
    machine.variables = {{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/x"}};
    machine.servers["GET http://169.254.170.2/v2/credentials/x"] = answer(temporary);
    CHECK(machine.found() == temporary_of("the container's endpoint"));
    machine.variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/c"},
                         {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/pod"}};
    machine.files["/pod"] = "pod-token\n";
    machine.servers["GET http://169.254.170.23/v1/c"] = answer(temporary);
    CHECK(machine.found() == temporary_of("the container's endpoint"));
    CHECK(value_of(machine.asked.back().request, "Authorization") == "pod-token");
    machine.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://elsewhere.example/c";
    const std::size_t before = machine.asked.size();
    CHECK(machine.problem().text.find("neither https nor") != std::string::npos);
    CHECK(machine.asked.size() == before);
}

TEST_CASE("AWS credentials of an instance: IMDSv2, with its token") {
    Machine machine;
    const std::string base = "http://169.254.169.254/latest/";
    machine.servers["PUT " + base + "api/token"] = answer("imds-token");
    machine.servers["GET " + base + "meta-data/iam/security-credentials/"] = answer("signer\n");
    machine.servers["GET " + base + "meta-data/iam/security-credentials/signer"] =
        answer(temporary);
    CHECK(machine.found() == temporary_of("the instance's metadata"));
    REQUIRE(machine.asked.size() == 3);
    CHECK(value_of(machine.asked[0].request, "X-aws-ec2-metadata-token-ttl-seconds") == "21600");
    CHECK(value_of(machine.asked[1].request, "X-aws-ec2-metadata-token") == "imds-token");
    CHECK(value_of(machine.asked[2].request, "X-aws-ec2-metadata-token") == "imds-token");
    SUBCASE("elsewhere") {
        machine.servers["PUT http://localhost:7/latest/api/token"] = answer("t", 403);
        machine.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://localhost:7/";
        CHECK(machine.problem().text ==
              "AWS credentials: the instance's metadata answers HTTP 403");
    }
    SUBCASE("no role") {
        machine.servers["GET " + base + "meta-data/iam/security-credentials/"] = answer("", 404);
        CHECK_FALSE(machine.problem().unreached);
    }
    SUBCASE("no instance at all: every place is named") {
        machine.servers.clear();
        const auto problem = machine.problem();
        CHECK(problem.unreached);
        CHECK(problem.text.find("environment") != std::string::npos);
        machine.variables["AWS_EC2_METADATA_DISABLED"] = "true";
        machine.asked.clear();
        CHECK_FALSE(machine.problem().unreached);
        CHECK(machine.asked.empty());
    }
}

TEST_CASE("times of AWS are read as they are written, or not at all") {
    CHECK(time_in_iso8601("2026-06-01T06:00:00Z") == domain::from_unix_ms(1'780'293'600'000));
    CHECK(time_in_iso8601("2026-06-01T06:00:00.123Z") == domain::from_unix_ms(1'780'293'600'000));
    for (const char* text :
         {"", "2026-06-01", "2026-06-01T06:00:00", "2026-13-01T06:00:00Z", "2026-06-01 06:00:00Z",
          "2026-06-01T25:00:00Z", "xxxx-06-01T06:00:00Z", "2026-02-30T06:00:00Z"}) {
        CAPTURE(text);
        CHECK_FALSE(time_in_iso8601(text));
    }
}

TEST_CASE("a profile ends where the next begins, and nested settings are not its own") {
    const std::string text =
        "before = 1\n[a]\nx = 1\ns3 =\n  x = 2\n; note\n[profile b]\nx=3\n[a]\ny = 4\nbroken\n[";
    const auto a = read_aws_profile(text, "a");
    REQUIRE(a);
    CHECK(a->at("x") == "1");
    CHECK(a->at("y") == "4");
    CHECK(a->count("before") == 0);
    CHECK(read_aws_profile(text, "b")->at("x") == "3");
    CHECK_FALSE(read_aws_profile(text, "c"));
}
