import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Heartbeat } from './web-socket.ts';

class Socket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  pings = 0;
  isTerminated = false;

  ping(): void {
    this.pings += 1;
  }

  terminate(): void {
    this.isTerminated = true;
  }
}

describe('Heartbeat', () => {
  it('keeps a socket that answers one of two pings', () => {
    const socket = new Socket();
    const heartbeat = new Heartbeat(socket);
    for (let round = 0; round < 5; round += 1) {
      heartbeat.beat();
      heartbeat.beat();
      socket.emit('pong');
    }
    expect([socket.pings, socket.isTerminated]).toEqual([10, false]);
  });

  it('terminates a socket that misses two pings in a row', () => {
    const socket = new Socket();
    const heartbeat = new Heartbeat(socket);
    for (let round = 0; round < 3; round += 1) heartbeat.beat();
    expect([socket.pings, socket.isTerminated]).toEqual([2, true]);
  });

  it('does not ping a socket that is closing', () => {
    const socket = new Socket();
    socket.readyState = 2;
    new Heartbeat(socket).beat();
    expect(socket.pings).toBe(0);
  });
});
