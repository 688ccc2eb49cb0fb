#include "chains/evm/signers/aws_sigv4.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "domain/time.hpp"

using chains::evm::signers::amz_date;
using chains::evm::signers::AwsCredentials;
using chains::evm::signers::AwsRequest;
using chains::evm::signers::sigv4_authorization;

namespace {

const AwsCredentials example{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", {}, {}};
// 2015-08-30 12:36:00
const domain::Timestamp moment = domain::from_unix_ms(1'440'938'160'000);
const std::string token =
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfI"
    "eoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0"
    "wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"
    "scqKmlzm8FDrypN"
    "C9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

}  // namespace

TEST_CASE("the published suite of signature version 4: aws-sig-v4-test-suite") {
    struct Row {
        const char* name;
        const char* method;
        const char* query;
        std::vector<std::pair<std::string, std::string>> headers;
        const char* body;
        const char* signed_headers;
        const char* signature;
    };
    const std::vector<Row> rows{
        {"get-vanilla",
         "GET",
         "",
         {},
         "",
         "host;x-amz-date",
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        {"get-vanilla-query-order-key-case",
         "GET",
         "Param2=value2&Param1=value1",
         {},
         "",
         "host;x-amz-date",
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        {"get-vanilla-utf8-query",
         "GET",
         "\xe1\x88\xb4=bar",
         {},
         "",
         "host;x-amz-date",
         "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
        {"get-header-key-duplicate",
         "GET",
         "",
         {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
         "",
         "host;my-header1;x-amz-date",
         "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
        {"get-header-value-order",
         "GET",
         "",
         {{"My-Header1", "value4"},
          {"My-Header1", "value1"},
          {"My-Header1", "value3"},
          {"My-Header1", "value2"}},
         "",
         "host;my-header1;x-amz-date",
         "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
        {"get-header-value-trim",
         "GET",
         "",
         {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
         "",
         "host;my-header1;my-header2;x-amz-date",
         "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
        {"post-vanilla",
         "POST",
         "",
         {},
         "",
         "host;x-amz-date",
         "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
        {"post-vanilla-query",
         "POST",
         "Param1=value1",
         {},
         "",
         "host;x-amz-date",
         "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
        {"post-header-key-sort",
         "POST",
         "",
         {{"My-Header1", "value1"}},
         "",
         "host;my-header1;x-amz-date",
         "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
        {"post-header-value-case",
         "POST",
         "",
         {{"My-Header1", "VALUE1"}},
         "",
         "host;my-header1;x-amz-date",
         "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
        {"post-x-www-form-urlencoded",
         "POST",
         "",
         {{"Content-Type", "application/x-www-form-urlencoded"}},
         "Param1=value1",
         "content-type;host;x-amz-date",
         "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
        {"post-sts-header-before",
         "POST",
         "",
         {{"X-Amz-Security-Token", token}},
         "",
         "host;x-amz-date;x-amz-security-token",
         "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        AwsRequest request{row.method, "/", row.query, row.headers, row.body};
        request.headers.emplace_back("X-Amz-Date", amz_date(moment));
        request.headers.emplace_back("Host", "example.amazonaws.com");
        CHECK(sigv4_authorization(request, example, {"us-east-1", "service"}, moment) ==
              std::string("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/"
                          "aws4_request, SignedHeaders=") +
                  row.signed_headers + ", Signature=" + row.signature);
    }
}

TEST_CASE("the examples of AWS's own guides for signature version 4") {
    // IAM User Guide: ListUsers.
    AwsRequest users{"GET", "/", "Action=ListUsers&Version=2010-05-08", {}, ""};
    users.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"},
                     {"Host", "iam.amazonaws.com"},
                     {"X-Amz-Date", amz_date(moment)}};
    CHECK(sigv4_authorization(users, example, {"us-east-1", "iam"}, moment)
              .ends_with("5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"));
    // Amazon S3 API Reference: GET Object.
    const AwsCredentials other{
        "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", {}, {}};
    const domain::Timestamp day = domain::from_unix_ms(1'369'353'600'000);  // 2013-05-24
    AwsRequest object{"GET", "/test.txt", "", {}, ""};
    object.headers = {{"Host", "examplebucket.s3.amazonaws.com"},
                      {"Range", "bytes=0-9"},
                      {"x-amz-content-sha256",
                       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                      {"x-amz-date", "20130524T000000Z"}};
    CHECK(sigv4_authorization(object, other, {"us-east-1", "s3"}, day)
              .ends_with("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
}

TEST_CASE("the date of a request is in UTC, with all its zeros") {
    CHECK(amz_date(moment) == "20150830T123600Z");
    CHECK(amz_date(domain::from_unix_ms(0)) == "19700101T000000Z");
    CHECK(amz_date(domain::from_unix_ms(951'782'399'999)) == "20000228T235959Z");
    CHECK(amz_date(domain::from_unix_ms(951'782'400'000)) == "20000229T000000Z");
}
