export { addressKey, groupedAddressKey, networkKey, networkOfKey } from './address-key.ts';
export { AddressShares, type AddressSharesOptions } from './address-shares.ts';
export { publicAddresses, type PublicAddresses } from './public-addresses.ts';
export { SPECIAL_NETWORKS_IPV4, SPECIAL_NETWORKS_IPV6 } from './special-networks.ts';
