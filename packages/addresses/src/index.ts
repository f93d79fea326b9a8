export {
  addressKey,
  AddressShares,
  groupedAddressKey,
  networkKey,
  networkOfKey,
  type AddressSharesOptions,
} from './address-key.ts';
export { createNameResolver, type NameResolver, type NameResolverOptions } from './name-resolver.ts';
export { publicAddresses, type PublicAddresses } from './public-addresses.ts';
export { SPECIAL_NETWORKS_IPV4, SPECIAL_NETWORKS_IPV6 } from './special-networks.ts';
