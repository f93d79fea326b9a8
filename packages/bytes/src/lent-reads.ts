import { Socket } from 'node:net';

/**
 * What `onread` of a new `net.Socket` sets, by the names that Node.js gives its symbols. There is no public way to say it
 * of a socket that stands already, such as that of a request to upgrade, and none at all for a server's `TLSSocket`.
 */
const [BUFFER, CALLBACK, GENERATOR] = symbolsOf('kBuffer', 'kBufferCb', 'kBufferGen');

interface ReadHandle {
  useUserBuffer(bytes: Uint8Array): void;
}

/** For all sockets: whatever is read is used or copied before anything else is. Pages that nothing fills cost nothing. */
const memory = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Reads the socket into the same memory from now on, again and again: `take` may use the bytes until it returns; false
 * stops the reading until `socket.resume()`. Nothing else may read the socket; `end`, `close` and `error` are told as
 * ever. Answers false, and nothing has happened, where this Node.js cannot: then listen to `data`.
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

function symbolsOf(...names: string[]): (symbol | undefined)[] {
  const own = Object.getOwnPropertySymbols(new Socket());
  return names.map((name) => own.find(({ description }) => description === name));
}
