import { expect, it, vi } from 'vitest';
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

it('a shell acknowledges output with its channel byte once the listener is done, and ends after that', async () => {
  const { sent, emit, openSocket } = playedSocket();
  const { clusters } = createClient({ baseUrl: 'http://platform', credential: { kind: 'none' }, openSocket });
  const shell = await clusters.of('home').shell({ pod: 'web', namespace: 'shop' });
  const finished = Promise.withResolvers<void>();
  const received: string[] = [];
  emit('message', { data: new Uint8Array([1, 104, 105]).buffer });
  shell.onData(async ({ stream, bytes }) => {
    received.push(`${stream} ${new TextDecoder().decode(bytes)}`);
    await finished.promise;
  });
  emit('message', { data: new Uint8Array([2, 33]).buffer });
  await vi.waitFor(() => expect(received).toEqual(['stdout hi']));
  expect(sent).toEqual([]);
  finished.resolve();
  await vi.waitFor(() => expect(sent).toEqual(['{"type":"ack","bytes":3}', '{"type":"ack","bytes":2}']));
  emit('message', { data: JSON.stringify({ type: 'exit', exit_code: 0 }) });
  expect(await shell.ended).toEqual({ exitCode: 0 });
  expect(received).toEqual(['stdout hi', 'stderr !']);
});

it('a shell whose listener throws ends with that error', async () => {
  const { emit, openSocket } = playedSocket();
  const { clusters } = createClient({ baseUrl: 'http://platform', credential: { kind: 'none' }, openSocket });
  const shell = await clusters.of('home').shell({ pod: 'web', namespace: 'shop' });
  shell.onData(() => {
    throw new Error('the terminal is gone');
  });
  emit('message', { data: new Uint8Array([1, 104]).buffer });
  await expect(shell.ended).rejects.toThrow('the terminal is gone');
});
