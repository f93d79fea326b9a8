export { systemClock, type MuxClock } from './clock.ts';
export { duplexTransport } from './duplex-transport.ts';
export { MUX_CODES, MuxError } from './errors.ts';
export { MAX_METADATA_BYTES } from './frames.ts';
export { DEFAULT_MUX_LIMITS, type MuxLimits } from './limits.ts';
export { messageTransport, type MessageSocket } from './message-transport.ts';
export { MuxSession, type MuxSessionOptions } from './session.ts';
export type { MuxStream } from './stream.ts';
export type { MuxTransport, TransportEvents } from './transport.ts';
