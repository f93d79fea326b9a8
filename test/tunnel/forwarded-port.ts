import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { CommandLine } from '../command-line/command-line.ts';
import type { TunnelFixture } from './tunnel-fixture.ts';

/** The CLI with the address and token of the fixture's platform. */
export function commandLineOf({ platform }: TunnelFixture, home: string): CommandLine {
  return new CommandLine({ HOME: home, SVC_URL: platform.ready.url, SVC_TOKEN: platform.ready.token }, home);
}

export interface ForwardedPort extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
}

/** Runs `svc forward production NAME 0` until disposed. */
export async function forwardPort(svc: CommandLine, name: string): Promise<ForwardedPort> {
  const { child, ended } = svc.start(['forward', 'production', name, '0']);
  if (child.stdout === null) throw new Error('its output is a pipe');
  const lines = createInterface({ input: child.stdout });
  const failed = ended.then(({ stderr }) => {
    throw new Error(`svc forward ended: ${stderr}`);
  });
  const [line] = (await Promise.race([once(lines, 'line'), failed])) as [string];
  failed.catch(() => undefined); // from here on we end it
  return {
    port: Number(/:(\d+) to /.exec(line)?.[1]),
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGINT');
      await ended;
    },
  };
}
