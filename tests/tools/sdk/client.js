// The published client library against a relayer: node client.js TASK.json
//
// TASK is {config, proofs: [{…}], publicDecrypts: [[handle…]], userDecrypts: [{handles: [{handle,
// contractAddress}…], key}]}; config is the library's own, addresses in any case. Prints {proofs: [{handles,
// inputProof}], publicDecrypts: [{…}], userDecrypts: [{publicKey, shares}]} as JSON, hex without checksums.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Wallet, getAddress } from 'ethers';

const require = createRequire(import.meta.url);
const task = JSON.parse(readFileSync(process.argv[2], 'utf8'));

// Making a reference string takes minutes, and the library needs one to make proofs only; those here are
// ready made. It is fetched from its place all the same.
require('node-tfhe').CompactPkeCrs.safe_deserialize = (bytes) => {
  if (Buffer.from(bytes).toString() !== task.crs) throw new Error('not the reference string of the test');
  return {};
};

// The library has the part that opens shares, and none that makes them: what it is given to open is kept, and
// taken for ones.
let opened = null;
require('node-tkms').process_user_decryption_resp_from_js = (client, request, domain, shares) => {
  opened = shares;
  return request.ciphertext_handles.map(() => ({ bytes: new Uint8Array([1]) }));
};
// Behind what is replaced above, which it takes over at its start.
const { createInstance } = await import('@zama-fhe/relayer-sdk/node');

const hex = (value) => (value instanceof Uint8Array ? '0x' + Buffer.from(value).toString('hex') : value);
const plain = (value) =>
  JSON.parse(JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : hex(item))));
const checksummed = (object) =>
  Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      /^0x[0-9a-f]{40}$/i.test(value) ? getAddress(value.toLowerCase()) : value,
    ]),
  );

const instance = await createInstance(checksummed(task.config));
const results = { proofs: [], publicDecrypts: [], userDecrypts: [] };
for (const proof of task.proofs) {
  const { handles, inputProof } = await instance.requestZKProofVerification({
    ...checksummed(proof),
    chainId: BigInt(task.config.chainId),
    aclContractAddress: getAddress(task.config.aclContractAddress.toLowerCase()),
  });
  results.proofs.push({ handles: handles.map(hex), inputProof: hex(inputProof) });
}
for (const handles of task.publicDecrypts)
  results.publicDecrypts.push(plain(await instance.publicDecrypt(handles)));
for (const { handles, key } of task.userDecrypts) {
  const wallet = new Wallet(key);
  const pairs = handles.map(checksummed);
  const contracts = [...new Set(pairs.map((pair) => pair.contractAddress))];
  const { publicKey, privateKey } = instance.generateKeypair();
  const validity = [Math.floor(Date.now() / 1000) - 60, 1];
  const { domain, types, message } = instance.createEIP712(publicKey, contracts, ...validity);
  const { EIP712Domain, ...signed } = types;
  const signature = await wallet.signTypedData(domain, signed, message);
  await instance.userDecrypt(pairs, privateKey, publicKey, signature, contracts, wallet.address, ...validity);
  results.userDecrypts.push({ publicKey, shares: opened });
}
console.log(JSON.stringify(results));
