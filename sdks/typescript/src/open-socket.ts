/** The used subset of a WebSocket, common to browsers, Node.js and the package `ws`. */

export interface SocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly protocol: string;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}

/** The data of a socket's event. */
export interface SocketEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
}

/** A WebSocket to open. */
export interface SocketRequest {
  url: string;
  protocols: string[];
  /** Browsers cannot send any; there the credential is one of the protocols. */
  headers: Record<string, string>;
}

/** Port that opens WebSockets. */
export type OpenSocket = (request: SocketRequest) => SocketLike;
