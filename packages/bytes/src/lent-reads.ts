import { Socket } from 'node:net';

/**
 * What `onread` of a new `net.Socket` sets, by the names that Node.js gives its symbols. There is no public way to say it
 * of a socket that stands already, such as that of a request to upgrade, and none at all for a server's `TLSSocket`.
 */
const [BUFFER, CALLBACK, GENERATOR] = symbolsOf('kBuffer', 'kBufferCb', 'kBufferGen');

interface ReadHandle {
  useUserBuffer(bytes: Uint8Array): void;
}

/**
 * Reads the socket into `buffer` from now on, again and again: `take` may use the bytes until it returns. Nothing else may
 * read the socket; `end`, `close` and `error` are told as ever. False, and nothing has happened, where this Node.js cannot:
 * then listen to `data`.
 */
export function lendReads(socket: Socket, buffer: Buffer, take: (bytes: Buffer) => void): boolean {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (BUFFER === undefined || CALLBACK === undefined || GENERATOR === undefined) return false;
  if (!isReadHandle(handle) || Reflect.get(socket, CALLBACK) !== null) return false;
  for (let early: unknown = socket.read(); early instanceof Buffer; early = socket.read()) take(early);
  Reflect.set(socket, BUFFER, buffer);
  Reflect.set(socket, GENERATOR, null);
  Reflect.set(socket, CALLBACK, (lengthBytes: number) => {
    take(buffer.subarray(0, lengthBytes));
    return true;
  });
  handle.useUserBuffer(buffer);
  socket.resume();
  return true;
}

function isReadHandle(handle: unknown): handle is ReadHandle {
  return typeof handle === 'object' && handle !== null && 'useUserBuffer' in handle;
}

function symbolsOf(...names: string[]): (symbol | undefined)[] {
  const own = Object.getOwnPropertySymbols(new Socket());
  return names.map((name) => own.find(({ description }) => description === name));
}
