// Writes a public FHE key as the client library reads it: node public_key.js FILE
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';

const tfhe = createRequire(import.meta.url)('node-tfhe');
const { ShortintParameters, ShortintParametersName } = tfhe;
const { ShortintCompactPublicKeyEncryptionParameters, TfheConfigBuilder } = tfhe;
const { ShortintCompactPublicKeyEncryptionParametersName: Encryption } = tfhe;

const block = new ShortintParameters(
  ShortintParametersName.PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128,
);
const compact = new ShortintCompactPublicKeyEncryptionParameters(
  Encryption.PARAM_PKE_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128,
);
const config = TfheConfigBuilder.with_custom_parameters(block)
  .use_dedicated_compact_public_key_parameters(compact)
  .build();
const key = tfhe.TfheCompactPublicKey.new(tfhe.TfheClientKey.generate(config));
writeFileSync(process.argv[2], key.safe_serialize(1n << 29n));
