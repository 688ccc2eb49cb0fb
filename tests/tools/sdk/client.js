// The published client library against a relayer: node client.js TASK.json
//
// TASK is {config, proofs: [{…}], publicDecrypts: [[handle…]]}; config is the library's own, addresses in
// any case. Prints {proofs: [{handles, inputProof}], publicDecrypts: [{…}]} as JSON, hex without checksums.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInstance } from '@zama-fhe/relayer-sdk/node';
import { getAddress } from 'ethers';

const require = createRequire(import.meta.url);
const task = JSON.parse(readFileSync(process.argv[2], 'utf8'));

// Making a reference string takes minutes, and the library needs one to make proofs only; those here are
// ready made. It is fetched from its place all the same.
require('node-tfhe').CompactPkeCrs.safe_deserialize = (bytes) => {
  if (Buffer.from(bytes).toString() !== task.crs) throw new Error('not the reference string of the test');
  return {};
};

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
const results = { proofs: [], publicDecrypts: [] };
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
console.log(JSON.stringify(results));
