// Signs a request to KMS with the AWS SDK's own signature version 4, and prints status and body of the
// answer: node aws_sdk.js URL REGION OPERATION BODY, credentials in the environment.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const tools = createRequire(join(here, '..', 'tools', 'package.json'));
const { SignatureV4 } = tools('@smithy/signature-v4');
const { Sha256 } = tools('@aws-crypto/sha256-js');

const [url, region, operation, body] = process.argv.slice(2);
const { host, hostname } = new URL(url);
const signer = new SignatureV4({
  service: 'kms',
  region,
  sha256: Sha256,
  applyChecksum: false,
  credentials: {
    accessKeyId: process.env.AWS_ACCESS_KEY_ID,
    secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY,
    sessionToken: process.env.AWS_SESSION_TOKEN,
  },
});
const { headers } = await signer.sign({
  method: 'POST',
  protocol: 'http:',
  hostname,
  path: '/',
  query: {},
  headers: {
    host,
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `TrentService.${operation}`,
  },
  body,
});
delete headers.host;
const answer = await fetch(url, { method: 'POST', headers, body });
console.log(answer.status, await answer.text());
