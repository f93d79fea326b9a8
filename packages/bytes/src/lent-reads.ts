import { Socket } from 'node:net';

/**
 * The internal symbols that `onread` of a new `net.Socket` sets. Node.js has no public API for an existing socket, such
 * as that of an upgrade request, and none at all for a server's `TLSSocket`.
 */
const [BUFFER, CALLBACK, GENERATOR] = findSymbols('kBuffer', 'kBufferCb', 'kBufferGen');

interface ReadHandle {
  useUserBuffer(bytes: Uint8Array): void;
}

/** Shared by all sockets: every read is consumed or copied before the next one. Untouched pages cost nothing. */
const memory = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Reads the socket into one shared buffer from now on. `take` may use the bytes until it returns; false pauses reading
 * until `socket.resume()`. Nothing else may read the socket; `end`, `close` and `error` are emitted as usual. Returns
 * false, without any effect, if this Node.js does not support it: then listen to `data`.
 */
export function lendReads(socket: Socket, take: (bytes: Buffer) => boolean): boolean {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (BUFFER === undefined || CALLBACK === undefined || GENERATOR === undefined) return false;
  if (!isReadHandle(handle) || Reflect.get(socket, CALLBACK) !== null) return false;
  let wantsMore = true;
  for (let early: unknown = socket.read(); early instanceof Buffer; early = socket.read()) wantsMore = take(early);
  Reflect.set(socket, BUFFER, memory);
  Reflect.set(socket, GENERATOR, null);
  Reflect.set(socket, CALLBACK, (lengthBytes: number) => take(memory.subarray(0, lengthBytes)));
  handle.useUserBuffer(memory);
  if (wantsMore) socket.resume();
  else socket.pause();
  return true;
}

function isReadHandle(handle: unknown): handle is ReadHandle {
  return typeof handle === 'object' && handle !== null && 'useUserBuffer' in handle;
}

function findSymbols(...names: string[]): (symbol | undefined)[] {
  const own = Object.getOwnPropertySymbols(new Socket());
  return names.map((name) => own.find(({ description }) => description === name));
}
