import type { ServerChannel, Target } from 'ssh2';
import { ChannelOutput } from './channel-output.ts';
import type { DialedPort, SshSandbox } from './ssh-sandbox.ts';

/** The sandbox's own loopback; the helper dials IPv4 first, then IPv6. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1']);

export interface SshForwardDeps {
  readonly sandbox: SshSandbox;
  readonly drained: () => Promise<void>;
  readonly gone: AbortSignal;
  readonly failed: (error: unknown) => void;
  readonly opened: (channel: ServerChannel) => void;
}

/** Whether a forwarded connection may go there: to a port of the sandbox itself, nowhere else. */
export function isForwardable({ destIP, destPort }: Target): boolean {
  return LOOPBACK.has(destIP.toLowerCase()) && destPort > 0 && destPort < 65_536;
}

/**
 * Connects a `direct-tcpip` channel to a port of the sandbox. Resolves when it has closed. The client is refused if
 * nothing listens there.
 */
export async function forwardPort(
  port: number,
  accept: () => ServerChannel | undefined,
  reject: () => void,
  { sandbox, drained, gone, failed, opened }: SshForwardDeps,
): Promise<void> {
  let cut = (): void => undefined;
  let dialed: DialedPort;
  try {
    dialed = await sandbox.dial(port, () => cut(), gone);
  } catch (error) {
    failed(error);
    reject();
    return;
  }
  const { socket, leave } = dialed;
  const channel = gone.aborted ? undefined : accept();
  if (channel === undefined) {
    socket.destroy();
    leave();
    return;
  }
  opened(channel);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  cut = (): void => {
    socket.destroy();
    channel.close();
    resolve();
  };
  gone.addEventListener('abort', cut, { once: true });
  // Unlike `close`, it does not wait until all input is read.
  channel.stderr.once('finish', cut);
  join(channel, dialed, new ChannelOutput(channel, drained), cut);
  await closed;
  gone.removeEventListener('abort', cut);
  leave();
}

/** Each direction ends on its own, with backpressure in both. */
function join(channel: ServerChannel, { socket, used }: DialedPort, output: ChannelOutput, cut: () => void): void {
  let isHalfClosed = false;
  const endHalf = (): void => {
    if (isHalfClosed) cut();
    isHalfClosed = true;
  };
  channel.on('error', cut);
  channel.once('close', cut);
  socket.on('error', cut);
  channel.on('data', (bytes: Buffer) => {
    channel.pause();
    used();
    socket.write(bytes, () => channel.resume());
  });
  channel.once('end', () => socket.end(endHalf));
  socket.on('data', (bytes: Buffer) => {
    socket.pause();
    void output.write(bytes, 1).then(() => socket.resume());
  });
  socket.once('end', () => {
    void output.flushed().then(() => {
      channel.eof();
      endHalf();
    });
  });
}
