export { keyErrors } from './errors.ts';
export { combineKeyWrappers, type KeyWrapper, type WrappedKey } from './key-wrapper.ts';
export { createLocalKeyWrapper, masterKeyId } from './local-key-wrapper.ts';
export {
  beginMasterKeyChange,
  loadMasterKeys,
  type MasterKeyChange,
  type MasterKeys,
  type MasterKeySource,
} from './master-keys.ts';
export { openBytes, sealBytes } from './sealed-box.ts';
export { createVaultTransitKeyWrapper, tokenFromFile, type VaultTransitOptions } from './vault-transit-key-wrapper.ts';
