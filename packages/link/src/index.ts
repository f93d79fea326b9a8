export { ReceiveCredit, SendCredit } from './credit.ts';
export { FRAME_HEADER_BYTES, FrameDecoder, type FrameFormat, type FrameHandler } from './frame-decoder.ts';
export { Liveness } from './liveness.ts';
export { OutputCredit } from './output-credit.ts';
export { PeerErrors } from './peer-errors.ts';
export { SendQueue } from './send-queue.ts';
export { TERMINAL_CLOSE_CODES } from './terminal-close-codes.ts';
export { DialTimeout, Heartbeat, limitHandshake, messageBytes, sendText, type HandshakeLimit } from './web-socket.ts';
