import { expect, it } from 'vitest';
import { createClient } from '../client.ts';
import type { SocketEvent } from '../open-socket.ts';
import type { SocketLike } from '../open-socket.ts';

/** A fake WebSocket that sends `ready` as soon as it opens. */
function playedSocket() {
  const listeners = new Map<string, (event: SocketEvent) => void>();
  const sent: (string | Uint8Array)[] = [];
  const emit = (type: string, fields: Partial<SocketEvent> = {}): void => listeners.get(type)?.({ type, ...fields });
  const socket: SocketLike = {
    binaryType: 'arraybuffer',
    bufferedAmount: 0,
    protocol: 'shell.v1',
    send: (data) => void sent.push(data),
    close: () => undefined,
    addEventListener: (type, listener) => listeners.set(type, listener),
  };
  const openSocket = (): SocketLike => {
    queueMicrotask(() => {
      emit('open');
      emit('message', { data: JSON.stringify({ type: 'ready', container: 'main' }) });
    });
    return socket;
  };
  return { sent, emit, openSocket };
}

it('a shell sends nothing to a closing socket', async () => {
  const { sent, emit, openSocket } = playedSocket();
  const { clusters } = createClient({ baseUrl: 'http://platform', credential: { kind: 'none' }, openSocket });
  const shell = await clusters.of('home').shell({ pod: 'web', namespace: 'shop' });
  shell.resize(80, 24);
  expect(sent).toHaveLength(1);
  emit('message', { data: JSON.stringify({ type: 'exit', exit_code: 3 }) });
  expect(await shell.ended).toEqual({ exitCode: 3 });
  shell.resize(100, 30);
  await shell.write(new Uint8Array([1]));
  expect(sent).toHaveLength(1);
});
