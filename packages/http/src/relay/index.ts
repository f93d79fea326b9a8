/** Relays requests and upgrades. A separate entry point, so that relays don't load the framework. */
export { continueOnFirstRead } from '../expect-continue.ts';
export { MalformedAnswer } from './answer-head.ts';
export { PlainConnections } from './plain-connections.ts';
export { connectionOptions, endToEndHeaders, listMembers, type HeaderList } from './relay-headers.ts';
export { hasSmallBody, isPlain, readSmallBody, relayPlain } from './relay-plain.ts';
export { relayRequest, RelayTimeout, type RelayTarget } from './relay-request.ts';
export { relayUpgrade, type Join, type RelayedUpgrade } from './relay-upgrade.ts';
